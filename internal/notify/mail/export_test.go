package mail

import "context"

// Exports for tests: the result of one attempt, and the text of an e-mail.
var (
	Write = Letter.write
	Clean = clean
	Pause = pause
)

// The results of an attempt.
const (
	Taken   = taken
	Refused = refusal
	Shown   = shown
	Later   = later
	Lost    = lost
)

// Bounds that tests move the clock by.
const (
	LostAfter   = lostAfter
	GiveUpAfter = giveUpAfter
	Remember    = remember
	OldNews     = oldNews
	FollowBatch = followBatch
)

// Turn processes a batch of each site.
func (m *Mails) Turn(ctx context.Context) error {
	_, err := m.turn(ctx, map[int64]error{})
	return err
}

// Attempt makes one attempt to send a mail. down reports that the server accepts no e-mail at all.
func (s *SMTP) Attempt(ctx context.Context, m Mail, text Message) (kind, answer string, down bool) {
	r := s.send(ctx, m, text)
	return r.kind, r.answer, r.down != nil
}
