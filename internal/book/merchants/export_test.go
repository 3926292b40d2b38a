package merchants

// For tests.
var (
	DeleteSupplier   = deleteSupplier
	LockSupplier     = lockSupplier
	ModesOfChannels  = modesOfChannels
	UnknownSuppliers = unknownSuppliers
	UpdateSupplier   = updateSupplier
)
