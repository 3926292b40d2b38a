// Request bodies for the service and callback messages for the page. The messages are for developers, so they are always in
// English.

import { Refused } from "./api.js";

const given = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""));

// Fields that every auth string verifies. The page may also name them in its option verify.
const always = ["channels", "currencies", "total"];

// session is the request that exchanges the auth string for a token. booking is the booking to pay, or 0 for a new one.
export function session(data, { path, environment, verify }, origin, booking) {
  const verified = Object.fromEntries([...always, ...verify].map((name) => [name, text(data[name])]));
  return given({ ...verified, path, environment, origin, booking_auth: data.booking_auth, verify, booking_id: booking || undefined });
}

const text = (value) => (value === undefined ? undefined : typeof value === "object" ? JSON.stringify(value) : String(value));

// booking is a new booking. other is the language if the page sets none.
export function booking(data, other) {
  const { channels, currencies, total, country, date, date_start, firstname, surname, email, description, pax, reference, language = other } = data;
  return given({ channels, currencies, total, country, date, date_start, firstname, surname, email, description, pax, reference, language });
}

// noBooking is the error for an invalid booking ID, in the format of the service's errors.
export function noBooking() {
  const params = { booking_id: "Invalid booking ID." };
  return new Refused(400, { code: "rest_invalid_param", message: "Invalid parameter(s): booking_id", data: { status: 400, params } });
}

// transaction is the request that pays a booking with a card: {token, month, year, name}.
export function transaction(data, { transactionType }, booking, card, back) {
  const { currencies, total, payee_name, payee_surname, payee_email, payee_address, payee_city, payee_postcode, payee_country, email } = data;
  // The name on the card is the payer's. If it matches the page's name, the page's data also has the surname.
  const same = card.name === [payee_name, payee_surname].filter(Boolean).join(" ");
  return given({
    channels: booking.channels, currencies, total: Number(total), transaction_types: transactionType,
    bookings: [{ id: booking.id, currencies: booking.currencies, total: booking.currencies === currencies ? Number(total) : booking.total_unpaid }],
    payment_methods: "credit-card", token: card.token, expiry_month: card.month, expiry_year: card.year,
    payee_name: same ? payee_name : card.name, payee_surname: same ? payee_surname : undefined, payee_email: payee_email ?? email,
    payee_address, payee_city, payee_postcode, countries: payee_country, attempt_3ds: true, "3ds_redirect_url": back,
  });
}

// decline is the text key for a decline reason. Shoppers do not learn that a card is lost, stolen or suspected of fraud:
// that is between cardholder and bank.
export function decline(reason) {
  const known = {
    insufficient_funds: "decline_funds", expired_card: "decline_expired", incorrect_security_code: "decline_code",
    incorrect_number: "decline_number", limit_exceeded: "decline_limit", not_supported: "decline_unsupported",
    authentication_required: "decline_authentication", authentication_failed: "decline_authentication",
    authentication_abandoned: "decline_authentication", processing_error: "decline_technical",
  };
  return known[reason] ?? "decline_generic";
}

// doubted lists the fields to mark after a decline: always the number, and the field that the bank named.
export function doubted(reason) {
  return { decline_code: ["number", "code"], decline_expired: ["number", "expiry"] }[reason] ?? ["number"];
}

// problems lists the service's errors about a booking, by field.
export function problems({ message, data }) {
  const params = data?.params;
  if (Array.isArray(params)) return params.map((name) => [name, "This field is required."]);
  return params && Object.keys(params).length ? Object.entries(params) : [["", message]];
}

// closed describes the stage at which the modal was closed.
export function closed(state, booking, status) {
  const stages = {
    loading: "The modal was closed before it was ready.",
    form: status ? "The modal was closed after a payment failed." : "The modal was closed before a payment was made.",
    paying: "The modal was closed while a payment was in progress.",
    challenge: "The modal was closed before the bank confirmed the payment.",
    checking: "The modal was closed before the outcome of the payment was known.",
    paid: "The modal was closed after the payment.",
    declined: "The modal was closed after all payment attempts failed.",
    unknown: "The modal was closed while the outcome of the payment was unknown.",
    failed: "The modal was closed after an error.",
    refused: "The modal was closed after its authorisation was rejected.",
    invalid: "The modal was closed after its booking was rejected.",
  };
  const open = ["paying", "challenge", "checking", "unknown"].includes(state);
  return stages[state] + (open ? ` Read the last transaction of booking ${booking} for the outcome.` : "");
}
