package protection

import (
	"slices"
	"strconv"
	"strings"
)

// SupplierKey is the name of a set of suppliers: their ids in order, with commas between. A report by supplier has a
// row for each set. So a booking with several suppliers counts once, and the rows add up to the total.
func SupplierKey(ids []int64) string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	texts := []string{}
	for _, id := range slices.Compact(ids) {
		texts = append(texts, strconv.FormatInt(id, 10))
	}
	return strings.Join(texts, ",")
}

// SupplierIDs returns the ids in a SupplierKey.
func SupplierIDs(key string) []int64 {
	var ids []int64
	for text := range strings.SplitSeq(key, ",") {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
