package claim

// Reason says why an allocation cannot bear a claim, or why a dispute is not payable (R13).
type Reason string

// The reasons that an allocation has by itself, in order: the first that fits is the one.
const (
	NotProtected         Reason = "not_protected"          // decided when the payment was recorded (R2)
	RecordedAfterTrigger Reason = "recorded_after_trigger" // or its cover started after the trigger
	Delivered            Reason = "delivered"              // U_T = 0
)
