package claim

// Reason is why a dispute is not payable, or not in full. The rest is to be represented: contested with the card scheme (R13).
type Reason string

// The reasons, in order: the first that applies is given.
const (
	BeforeTrigger        Reason = "before_trigger"         // no debit from T₀ on
	NotProtected         Reason = "not_protected"          // decided when the payment was recorded (R2)
	RecordedAfterTrigger Reason = "recorded_after_trigger" // or its cover started after the trigger
	Refunded             Reason = "refunded"               // refunds account for all of it, whenever they were made
	Delivered            Reason = "delivered"              // U_T = 0
	LateDispute          Reason = "late_dispute"           // after L
	LateNotice           Reason = "late_notice"            // received later than the policy allows
	ClaimsClosed         Reason = "claims_closed"          // received after the claims were closed
	OtherProtectionFirst Reason = "other_protection_first" // by the policy, until released
	Duplicate            Reason = "duplicate"              // an earlier claim for the same loss is payable
	AboveRemaining       Reason = "above_remaining"        // it exceeds the remaining C
	NotInSnapshot        Reason = "not_in_snapshot"        // nothing remained at T, or L had passed
)

// Reasons lists the reasons in order.
var Reasons = []Reason{
	BeforeTrigger, NotProtected, RecordedAfterTrigger, Refunded, Delivered, LateDispute, LateNotice, ClaimsClosed,
	OtherProtectionFirst, Duplicate, AboveRemaining, NotInSnapshot,
}
