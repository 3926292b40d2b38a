package api

import "holdfast/internal/domain/access"

// rights are what the caller of a handler must be allowed to do, where that is more than reading. It is looked at before
// anything in the request is. So who may not do it learns nothing else. The rooms judge again, and by what is asked for.
var rights = map[string]access.Permission{
	"createToken": access.ManageTokens, "deleteToken": access.ManageTokens, "deleteAllTokens": access.ManageTokens,
	"updateSite":    access.WriteSite,
	"createChannel": access.WriteChannels, "changeChannel": access.WriteChannels, "deleteChannel": access.WriteChannels,
	"rotateChannelSecret": access.SetChannelTerms,
	"createSupplier":      access.WriteSuppliers, "changeSupplier": access.WriteSuppliers, "deleteSupplier": access.WriteSuppliers,
	"createBooking": access.WriteBookings, "changeBooking": access.WriteBookings, "deleteBooking": access.WriteBookings,
	"revokeCertificate": access.WriteBookings,
	"createTransaction": access.WriteTransactions,
	"createPolicy":      access.WritePolicies,
	"listStatements":    access.ReadStatements, "getStatement": access.ReadStatements, "listStatementLines": access.ReadStatements,
	"getStatementCSV": access.ReadStatements, "getStatementPDF": access.ReadStatements, "listStatementPayments": access.ReadStatements,
	"createStatementPayment": access.RecordStatementPayments, "getPremiumBordereau": access.ReadStatements,
	"listReportMails": access.Export, "getReportMail": access.Export, "createReportMail": access.Export,
	"changeReportMail": access.Export, "deleteReportMail": access.Export, "pauseReportMail": access.Export, "resumeReportMail": access.Export, "sendReportMail": access.Export,
	"listContracts": access.ReadStatements, "getContract": access.ReadStatements, "createContract": access.WritePolicies,
	"createRate": access.WriteRates, "moveClock": access.MoveClock, "listAudit": access.ReadAudit,
	"listProposals": access.ReadAudit, "getProposal": access.ReadAudit,
	"approveProposal": access.DecideProposals, "rejectProposal": access.DecideProposals, "withdrawProposal": access.DecideProposals,
	"createWebhook": access.WriteSite, "changeWebhook": access.WriteSite, "deleteWebhook": access.WriteSite,
	"rotateWebhookSecret": access.WriteSite, "testWebhook": access.WriteSite, "replayWebhook": access.WriteSite,
	"resendMail": access.SendMails, "tryMail": access.ManageSites,
	"listImports": access.ImportBooks, "createImport": access.ImportBooks, "getImport": access.ImportBooks, "discardImport": access.ImportBooks,
	"confirmImport": access.ImportBooks, "listImportRows": access.ImportBooks, "getImportCSV": access.ImportBooks,
	"createLimit": access.WriteLimits, "createCollateral": access.WriteCollateral,
}
