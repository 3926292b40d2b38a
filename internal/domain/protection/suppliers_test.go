package protection_test

import (
	"testing"

	"holdfast/internal/domain/protection"
)

func TestSupplierKeys(t *testing.T) {
	if key := protection.SupplierKey([]int64{7, 3, 7}); key != "3,7" || len(protection.SupplierIDs(key)) != 2 {
		t.Errorf("%q, %v", key, protection.SupplierIDs(key))
	}
	if key := protection.SupplierKey(nil); key != "" || protection.SupplierIDs(key) != nil {
		t.Errorf("%q, %v", key, protection.SupplierIDs(key))
	}
}
