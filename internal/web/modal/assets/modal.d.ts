// The payment modal: https://… /modal/v1/modal.js adds these names to the page.

/** The order to pay. Amounts are in minor units (cents), days are written like 2024-06-30. */
export interface PaymentModalData {
  /** Created by your server with the merchant's secret. Valid for 15 minutes. */
  booking_auth: string;
  /** "0" creates a new booking. The ID of a booking pays that booking. */
  booking_id: string | number;
  channels: string | number;
  currencies: string;
  total: string | number;
  /** Country of the trip, ISO 3166-1 alpha-2. */
  country?: string;
  /** Last day of the trip. */
  date?: string;
  date_start?: string;
  firstname?: string;
  surname?: string;
  email?: string;
  payee_name?: string;
  payee_surname?: string;
  payee_email?: string;
  payee_address?: string;
  payee_city?: string;
  payee_postcode?: string;
  payee_country?: string;
  description?: string;
  pax?: string | number;
  reference?: string;
  /** Language of the modal and of the receipt, such as deDE. */
  language?: string;
  /** An array, or its JSON. Must be verified. It is stored with the payment and returned with it. */
  allocations?: string | ReadonlyArray<Readonly<Record<string, unknown>>>;
  charge_channel?: string | number;
  /** Same as the option, which takes precedence. */
  transactionType?: "purchase" | "authorize";
}

export interface PaymentModalOptions {
  /** Path of your site. */
  path: string;
  /** "test" for merchants in test mode, "live" for others. If missing or any other value, the merchant's own applies. */
  environment?: "test" | "live" | (string & {});
  /** ID of a form whose inputs have the classes tmt_<name>: the modal opens when the form is submitted. */
  formId?: string;
  /** The data, instead of a form. The modal opens immediately. */
  data?: PaymentModalData;
  /** Names of the fields that the auth string verifies. channels, currencies and total are always verified, even if not named. */
  verify?: Array<"channels" | "currencies" | "total" | "country" | "date" | "email" | "firstname" | "reference" | "surname" | "allocations" | "charge_channel">;
  transactionType?: "purchase" | "authorize";
}

/** An error of the service. */
export interface ServiceError {
  code: string;
  message: string;
  data: { status: number; params?: Record<string, string>; request_id?: string };
}

export interface Booking {
  id: number;
  trust_id: string;
  uuid: string;
  status: "draft" | "authorized" | "completed" | "locked" | "paid" | "partial-payment" | "unpaid";
  title: string;
  total: number;
  total_unpaid: number;
  currencies: string;
  channels: number;
  transaction_ids: number[];
  [field: string]: unknown;
}

export interface Transaction {
  id: number;
  trust_id: string;
  uuid: string;
  hash: string;
  status: "pending" | "complete" | "failed" | "incomplete" | "locked" | "expired";
  content: string;
  total: number;
  currencies: string;
  channels: number;
  [field: string]: unknown;
}

export interface PaymentModalCallbacks {
  token_error: ServiceError;
  booking_logged: Booking;
  booking_exists: Booking;
  booking_error: ServiceError;
  transaction_result_available: Transaction;
  transaction_logged: Transaction;
  transaction_failed: Transaction;
  /** @deprecated never fires */
  transaction_rejected: never;
  transaction_timeout: { booking_id: number; message: string; name: "TimeoutError" };
  transaction_error: { name: string; message: string };
  modal_closed: { message: string };
  close_window_attempted: { message: string };
  /** The session expires soon. Pass a new auth string to renew(), so that the shopper's input is not lost. */
  token_expiring: { message: string; expires_in: number };
}

export declare class PaymentModal {
  constructor(options: PaymentModalOptions);
  on<Name extends keyof PaymentModalCallbacks>(name: Name, listener: (argument: PaymentModalCallbacks[Name]) => void): this;
  /** Closes the modal, even during a payment. */
  closeModal(): void;
  /** Continues with a new auth string for the same payment. */
  renew(booking_auth: string): void;
}

declare global {
  interface Window {
    holdfastPaymentModalSdk: typeof PaymentModal;
    /** Called when the script has loaded. */
    holdfastPaymentModalReady?: () => void;
    tmtPaymentModalSdk: typeof PaymentModal;
    tmtPaymentModalReady?: () => void;
  }
}
