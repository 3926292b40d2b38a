package main

// target is the goal for a kind on one engine and with one number of callers; 0 and "" match any.
type target struct {
	engine, kind string
	callers      int
	least        string
}

// targets were set before tuning began. Ratios are those in the same table.
var targets = []target{
	{"sqlite", createBooking, 32, "3.5 × PocketBase; 0.8 × database alone"},
	{"sqlite", createBooking, 128, "4.5 × PocketBase"},
	{"sqlite", logPayment, 32, "2.5 × PocketBase; 0.6 × database alone"},
	{"sqlite", logPayment, 128, "3 × PocketBase"},
	{"sqlite", getBooking, 0, "3.5 × PocketBase; 0.8 × database alone"},
	{"sqlite", getTransaction, 0, "3 × PocketBase"},
	{"sqlite", listNoCount, 0, "8 × PocketBase"},
	{"sqlite", listByEmail, 0, "6 × PocketBase"},
	{"", byChannel, 0, "1,000 a second"},
	{"", byMonth, 0, "500 a second"},
	{"", runOff, 0, "500 a second"},
	{"sqlite", importRows, 0, "10,000 a second; 0.6 × bulk insert"},
	{"postgres", importRows, 0, "5,000 a second"},
	{"postgres", createBooking, 0, "0.6 × pgbench"},
	{"postgres", logPayment, 0, "1,500 a second"},
}

// least is the target of a kind, or "" if it has none.
func least(engine, kind string, callers int) string {
	for _, t := range targets {
		if t.kind == kind && (t.engine == "" || t.engine == engine) && (t.callers == 0 || t.callers == callers) {
			return t.least
		}
	}
	return ""
}
