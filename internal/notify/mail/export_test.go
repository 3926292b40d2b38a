package mail

import "context"

// What tests look at from outside: the result of one attempt, and the text of a letter.
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

// Turn takes each site a piece further.
func (m *Mails) Turn(ctx context.Context) error {
	_, err := m.turn(ctx, map[int64]error{})
	return err
}

// Attempt makes one attempt to send a mail. down says that the server takes no mail at all.
func (s *SMTP) Attempt(ctx context.Context, m Mail, text Message) (kind, answer string, down bool) {
	r := s.send(ctx, m, text)
	return r.kind, r.answer, r.down != nil
}
