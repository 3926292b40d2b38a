package cli

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"

	"github.com/alecthomas/kong"
)

// The parser's own messages about invalid values mention Go types and layouts. The readers here describe the accepted format,
// with an example.

// readers register a parser for each type of value.
func readers() kong.Option {
	options := []kong.Option{
		kong.TypeMapper(reflect.TypeFor[time.Time](), reader(readInstant)),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), reader(readDuration)),
		kong.TypeMapper(reflect.TypeFor[netip.Prefix](), reader(readNetwork)),
		kong.TypeMapper(reflect.TypeFor[dayFlag](), reader(readDay)),
		kong.TypeMapper(reflect.TypeFor[sortFlag](), kong.MapperFunc(readSort)),
		kong.KindMapper(reflect.Int, kong.MapperFunc(readNumber)),
		kong.KindMapper(reflect.Int64, kong.MapperFunc(readNumber)),
		kong.TypeMapper(reflect.TypeFor[amountFlag](), kong.MapperFunc(readAmount)),
		kong.KindMapper(reflect.String, reader(func(text string) (string, error) { return text, nil })),
		kong.KindMapper(reflect.Bool, switchMapper{}),
		kong.NamedMapper("existingfile", reader(readFileName)),
	}
	return kong.OptionFunc(func(k *kong.Kong) error {
		for _, option := range options {
			if err := option.Apply(k); err != nil {
				return err
			}
		}
		return nil
	})
}

// reader turns a parse function into a mapper.
func reader[T any](read func(text string) (T, error)) kong.MapperFunc {
	return func(ctx *kong.DecodeContext, target reflect.Value) error {
		text, err := given(ctx)
		if err != nil {
			return err
		}
		value, err := read(text)
		if err == nil {
			target.Set(reflect.ValueOf(value).Convert(target.Type()))
		}
		return err
	}
}

// given returns the next word of the command line, if it is a value.
func given(ctx *kong.DecodeContext) (string, error) {
	if !ctx.Scan.Peek().IsValue() {
		return "", errors.New("missing value")
	}
	return fmt.Sprint(ctx.Scan.Pop().Value), nil
}

// dayFlag is a day on the command line; nil if the flag is not given.
type dayFlag struct{ day *civil.Day }

// text is the day, or "" if the flag is not given.
func (f dayFlag) text() string {
	if f.day == nil {
		return ""
	}
	return f.day.String()
}

func readDay(text string) (dayFlag, error) {
	day, err := civil.ParseDay(text)
	if err != nil {
		return dayFlag{}, fmt.Errorf("%q is not a valid date. Use the format 2024-06-30, from %s to %s",
			text, civil.FirstDay, civil.LastDay)
	}
	return dayFlag{&day}, nil
}

func readInstant(text string) (time.Time, error) {
	at, err := time.Parse(civil.InstantLayout, text)
	if err != nil {
		return at, fmt.Errorf("%q is not a valid date and time. Use the format \"2024-06-30 12:00:00\", in quotes and in GMT", text)
	}
	return at, nil
}

func readDuration(text string) (time.Duration, error) {
	length, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a valid duration. Use a number with a unit, such as 30s, 5m or 2h", text)
	}
	return length, nil
}

func readNetwork(text string) (netip.Prefix, error) {
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return network, fmt.Errorf("%q is not a valid network. Use the format 10.0.0.0/8, and separate several with commas", text)
	}
	return network, nil
}

// readSort parses the value of --sort. It may start with a dash, which otherwise starts a flag.
func readSort(ctx *kong.DecodeContext, target reflect.Value) error {
	word, ok := ctx.Scan.Peek().Value.(string)
	if !ok || word == "" || word == "-" || strings.HasPrefix(word, "--") {
		return errors.New("missing value")
	}
	ctx.Scan.Pop()
	column, descending := strings.CutPrefix(word, "-")
	target.Set(reflect.ValueOf(sortFlag{column, descending}))
	return nil
}

// readFileName rejects a missing file before anything else happens.
func readFileName(text string) (string, error) {
	path := kong.ExpandPath(text)
	switch info, err := os.Stat(path); {
	case errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("file not found: %s", text)
	case err != nil:
		return "", err
	case info.IsDir():
		return "", fmt.Errorf("%s is a folder, not a file", text)
	}
	return path, nil
}

// readNumber parses an integer, alone or in a list.
func readNumber(ctx *kong.DecodeContext, target reflect.Value) error {
	text, err := given(ctx)
	if err != nil {
		return err
	}
	number, err := strconv.ParseInt(text, 10, target.Type().Bits())
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%s is too large", text)
	}
	if err != nil && isList(ctx.Value.Target.Type()) {
		return fmt.Errorf("%q is not a whole number. Enter one, or several separated by commas, such as 3,17", text)
	}
	if err != nil {
		return fmt.Errorf("%q is not a whole number, such as 17", text)
	}
	target.SetInt(number)
	return nil
}

func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer && isList(t.Elem())
}

// amountFlag is an amount with its currency; the zero value if it is not given.
type amountFlag struct {
	minor    int64
	currency money.Currency
}

func (a amountFlag) given() bool { return a.currency != "" }

// String formats the amount as the user would enter it.
func (a amountFlag) String() string {
	return money.FormatPlain(a.minor, a.currency) + " " + string(a.currency)
}

// pointer is the amount in minor units; nil if it is not given.
func (a amountFlag) pointer() *int64 {
	if !a.given() {
		return nil
	}
	return &a.minor
}

// in rejects an amount in a different currency.
func (a amountFlag) in(c money.Currency, field, what string) error {
	if a.given() && a.currency != c {
		return errs.WrongField(field, "%s is in %s, but the amount is %s.", what, c, a)
	}
	return nil
}

// The format of an amount: with its currency after it, or before it as the program prints it. Thousands separators are optional.
var (
	amountBefore = regexp.MustCompile(`^(-?[0-9][0-9,]*(?:\.[0-9]*)?) ?([A-Za-z]{3})$`)
	amountBehind = regexp.MustCompile(`^([A-Za-z]{3}) ?(-?[0-9][0-9,]*(?:\.[0-9]*)?)$`)
	thousands    = regexp.MustCompile(`^-?[0-9]{1,3}(,[0-9]{3})+(\.|$)`)
)

// readAmount parses an amount. Its currency may be the next word, because without quotes the shell splits them. It may start
// with a minus, which otherwise starts a flag.
func readAmount(ctx *kong.DecodeContext, target reflect.Value) error {
	text, ok := ctx.Scan.Peek().Value.(string)
	if !ok || strings.HasPrefix(text, "--") {
		return errors.New("missing value")
	}
	ctx.Scan.Pop()
	if next, ok := ctx.Scan.Peek().Value.(string); ok && !strings.ContainsAny(text, " ") && isCurrency(text) != isCurrency(next) &&
		ctx.Scan.Peek().IsValue() && (isCurrency(next) || startsAmount(next)) {
		text += " " + next
		ctx.Scan.Pop()
	}
	read, err := parseAmount(text)
	if err == nil {
		target.Set(reflect.ValueOf(read))
	}
	return err
}

func isCurrency(word string) bool {
	return len(word) == 3 && strings.Trim(strings.ToUpper(word), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func startsAmount(word string) bool {
	return word != "" && strings.ContainsRune("-0123456789", rune(word[0]))
}

func parseAmount(text string) (read amountFlag, err error) {
	var digits, code string
	if m := amountBefore.FindStringSubmatch(text); m != nil {
		digits, code = m[1], m[2]
	} else if m := amountBehind.FindStringSubmatch(text); m != nil {
		digits, code = m[2], m[1]
	}
	switch {
	case digits == "" && strings.Trim(text, "-0123456789.,") == "" && text != "":
		return read, fmt.Errorf("%q has no currency. Add it after the amount, such as \"1234.56 GBP\"", text)
	case digits == "" || strings.Contains(digits, ",") && !thousands.MatchString(digits):
		return read, fmt.Errorf("%q is not a valid amount. Enter it with its currency, such as \"1234.56 GBP\"", text)
	}
	if read.currency, err = money.ParseCurrency(strings.ToUpper(code)); err != nil {
		return amountFlag{}, err
	}
	if read.minor, err = money.ParsePlain(strings.ReplaceAll(digits, ",", ""), read.currency); err != nil {
		return amountFlag{}, err
	}
	if read.minor > check.MaxAmount || read.minor < -check.MaxAmount {
		return amountFlag{}, fmt.Errorf("%s is too large. The maximum is %s", read, amountFlag{check.MaxAmount, read.currency})
	}
	return read, nil
}

// switchMapper parses a flag alone (--json) or with a value (--json=no).
type switchMapper struct{}

// IsBool tells the parser that the flag needs no value.
func (switchMapper) IsBool() bool { return true }

// Decode sets the flag.
func (switchMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		target.SetBool(true)
		return nil
	}
	word := fmt.Sprint(ctx.Scan.Pop().Value)
	switch strings.ToLower(word) {
	case "true", "1", "yes":
		target.SetBool(true)
	case "false", "0", "no":
		target.SetBool(false)
	default:
		return fmt.Errorf("%q is not yes or no", word)
	}
	return nil
}

// onTheWire translates a word of the command line into the API's: what people call a merchant is a channel there.
func onTheWire(word string) string {
	if word == "merchant" {
		return "channel"
	}
	return word
}
