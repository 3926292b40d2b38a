package api

import (
	"holdfast/internal/auth"
)

// rights are what the caller of a handler must be allowed to do, where that is more than reading. It is looked at before
// anything in the request is. So who may not do it learns nothing else. The rooms judge again, and by what is asked for.
var rights = map[string]auth.Permission{
	"createToken": auth.ManageTokens, "deleteToken": auth.ManageTokens, "deleteAllTokens": auth.ManageTokens,
	"updateSite":    auth.WriteSite,
	"createChannel": auth.WriteChannels, "changeChannel": auth.WriteChannels, "deleteChannel": auth.WriteChannels,
	"rotateChannelSecret": auth.SetChannelTerms,
	"createSupplier":      auth.WriteSuppliers, "changeSupplier": auth.WriteSuppliers, "deleteSupplier": auth.WriteSuppliers,
	"createBooking": auth.WriteBookings, "changeBooking": auth.WriteBookings, "deleteBooking": auth.WriteBookings,
	"revokeCertificate": auth.WriteBookings,
	"createTransaction": auth.WriteTransactions,
	"createPolicy":      auth.WritePolicies,
	"listStatements":    auth.ReadStatements, "getStatement": auth.ReadStatements, "listStatementLines": auth.ReadStatements,
	"getStatementCSV": auth.ReadStatements, "getStatementPDF": auth.ReadStatements, "listStatementPayments": auth.ReadStatements,
	"createStatementPayment": auth.RecordStatementPayments, "getPremiumBordereau": auth.ReadStatements,
	"listReportMails": auth.Export, "getReportMail": auth.Export, "createReportMail": auth.Export,
	"changeReportMail": auth.Export, "deleteReportMail": auth.Export, "pauseReportMail": auth.Export, "resumeReportMail": auth.Export, "sendReportMail": auth.Export,
	"listContracts": auth.ReadStatements, "getContract": auth.ReadStatements, "createContract": auth.WritePolicies,
	"createRate": auth.WriteRates, "moveClock": auth.MoveClock, "listAudit": auth.ReadAudit,
	"listProposals": auth.ReadAudit, "getProposal": auth.ReadAudit,
	"approveProposal": auth.DecideProposals, "rejectProposal": auth.DecideProposals, "withdrawProposal": auth.DecideProposals,
	"createWebhook": auth.WriteSite, "changeWebhook": auth.WriteSite, "deleteWebhook": auth.WriteSite,
	"rotateWebhookSecret": auth.WriteSite, "testWebhook": auth.WriteSite, "replayWebhook": auth.WriteSite,
	"resendMail": auth.SendMails, "tryMail": auth.ManageSites,
	"listImports": auth.ImportBooks, "createImport": auth.ImportBooks, "getImport": auth.ImportBooks, "discardImport": auth.ImportBooks,
	"confirmImport": auth.ImportBooks, "listImportRows": auth.ImportBooks, "getImportCSV": auth.ImportBooks,
	"createLimit": auth.WriteLimits, "createCollateral": auth.WriteCollateral,
}
