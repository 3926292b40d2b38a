package processors

// NoticesDue lists the notices that are due.
var NoticesDue = noticesDue
