package dispute

import "strings"

// Family is the reason family of a dispute, as dispute windows distinguish them (R5).
type Family string

// The families.
const (
	NotProvided        Family = "services_not_provided"
	CreditNotProcessed Family = "credit_not_processed"
	OtherReason        Family = "other"
)

// Families lists the families.
var Families = []Family{NotProvided, CreditNotProcessed, OtherReason}

// familyOfCode has the schemes' codes of the first two families.
var familyOfCode = map[string]Family{
	"13.1": NotProvided, "13.6": CreditNotProcessed, "13.7": CreditNotProcessed, // Visa
	"4855": NotProvided, "4859": NotProvided, "4860": CreditNotProcessed, // Mastercard
	"C08": NotProvided, "C02": CreditNotProcessed, "C04": CreditNotProcessed, "C05": CreditNotProcessed, // American Express
	"RG": NotProvided, "RN2": CreditNotProcessed, "4755": NotProvided, // Discover, Diners Club
}

// familyOfWords has the words that processors' reasons contain, in the order in which they are tried.
var familyOfWords = []struct {
	family Family
	words  []string
}{
	{CreditNotProcessed, []string{"credit not", "refund not", "credit_not", "refund_not", "cancelled merchandise", "cancelled service"}},
	{NotProvided, []string{"not received", "not provided", "not rendered", "non-receipt", "non receipt", "not_received", "not_provided"}},
}

// FamilyOf is the family of a reason: by its code, otherwise by its words. A code such as Mastercard's 4853 covers several families, so the
// words decide. It is "" if there is neither a code nor a reason.
func FamilyOf(code, reason string) Family {
	code = strings.ToUpper(strings.TrimSpace(code))
	if f, ok := familyOfCode[code]; ok {
		return f
	}
	text := strings.ToLower(code + " " + reason)
	for _, group := range familyOfWords {
		for _, words := range group.words {
			if strings.Contains(text, words) {
				return group.family
			}
		}
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return OtherReason
}
