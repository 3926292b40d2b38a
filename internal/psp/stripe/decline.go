package stripe

import "holdfast/internal/psp"

// declines maps the decline codes of the processor, and the error codes without a decline code.
// Every other code is a DeclineOther, with the processor's words.
var declines = map[string]psp.Decline{
	"authentication_required":               psp.DeclineAuthenticate,
	"authentication_not_handled":            psp.DeclineAuthenticate,
	"mobile_device_authentication_required": psp.DeclineAuthenticate,
	"offline_pin_required":                  psp.DeclineAuthenticate,
	"online_or_offline_pin_required":        psp.DeclineAuthenticate,

	"payment_intent_authentication_failure": psp.DeclineNotAuthenticated,
	"incorrect_pin":                         psp.DeclineNotAuthenticated,
	"invalid_pin":                           psp.DeclineNotAuthenticated,

	"payment_intent_payment_attempt_expired": psp.DeclineAbandoned,

	"approve_with_id":                   psp.DeclineGeneric,
	"call_issuer":                       psp.DeclineGeneric,
	"card_declined":                     psp.DeclineGeneric,
	"do_not_honor":                      psp.DeclineGeneric,
	"do_not_try_again":                  psp.DeclineGeneric,
	"generic_decline":                   psp.DeclineGeneric,
	"new_account_information_available": psp.DeclineGeneric,
	"no_action_taken":                   psp.DeclineGeneric,
	"restricted_card":                   psp.DeclineGeneric,
	"revocation_of_all_authorizations":  psp.DeclineGeneric,
	"revocation_of_authorization":       psp.DeclineGeneric,
	"stop_payment_order":                psp.DeclineGeneric,
	"try_again_later":                   psp.DeclineGeneric,

	"insufficient_funds": psp.DeclineFunds,

	"card_decline_rate_limit_exceeded": psp.DeclineLimit,
	"card_velocity_exceeded":           psp.DeclineLimit,
	"invalid_amount":                   psp.DeclineLimit,
	"pin_try_exceeded":                 psp.DeclineLimit,
	"withdrawal_count_limit_exceeded":  psp.DeclineLimit,

	"expired_card":         psp.DeclineExpired,
	"invalid_expiry_month": psp.DeclineExpired,
	"invalid_expiry_year":  psp.DeclineExpired,

	"incorrect_cvc": psp.DeclineCode,
	"invalid_cvc":   psp.DeclineCode,

	"incorrect_number": psp.DeclineNumber,
	"invalid_account":  psp.DeclineNumber,
	"invalid_number":   psp.DeclineNumber,

	"lost_card":   psp.DeclineLost,
	"pickup_card": psp.DeclineLost,
	"stolen_card": psp.DeclineStolen,

	"fraudulent":         psp.DeclineFraud,
	"highest_risk_level": psp.DeclineFraud,
	"merchant_blacklist": psp.DeclineFraud,
	"security_violation": psp.DeclineFraud,

	"card_not_supported":      psp.DeclineNotSupported,
	"currency_not_supported":  psp.DeclineNotSupported,
	"not_permitted":           psp.DeclineNotSupported,
	"service_not_allowed":     psp.DeclineNotSupported,
	"live_mode_test_card":     psp.DeclineNotSupported,
	"test_mode_live_card":     psp.DeclineNotSupported,
	"testmode_decline":        psp.DeclineNotSupported,
	"transaction_not_allowed": psp.DeclineNotSupported,

	"issuer_not_available": psp.DeclineProcessor,
	"processing_error":     psp.DeclineProcessor,
	"reenter_transaction":  psp.DeclineProcessor,

	"duplicate_transaction":            psp.DeclineOther,
	"incorrect_address":                psp.DeclineOther,
	"incorrect_zip":                    psp.DeclineOther,
	"previously_declined_do_not_retry": psp.DeclineOther,
}

// declineOf returns the meaning of a decline and its code. The code of the issuer counts first.
func declineOf(declineCode, errorCode string) (psp.Decline, string) {
	code := declineCode
	if code == "" {
		code = errorCode
	}
	if d, ok := declines[code]; ok {
		return d, code
	}
	return psp.DeclineOther, code
}

// refundFailures says the same for refunds that did not reach the card. There, insufficient_funds is about the
// merchant.
var refundFailures = map[string]psp.Decline{
	"lost_or_stolen_card":      psp.DeclineLost,
	"expired_or_canceled_card": psp.DeclineExpired,
	"declined":                 psp.DeclineGeneric,
	"insufficient_funds":       psp.DeclineProcessor,
	"unknown":                  psp.DeclineProcessor,
}

func refundFailure(reason string) psp.Decline {
	if d, ok := refundFailures[reason]; ok {
		return d
	}
	return psp.DeclineOther
}
