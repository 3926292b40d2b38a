package store

import "holdfast/internal/store/postgres"

// gathers reports whether the statements of rows are sent together: where the transaction can do so, or FlushBeside wants it.
func (tx *Tx) gathers() bool {
	_, can := tx.sql.(*postgres.Tx)
	return can || tx.gather
}

// handOver gives what was gathered to the line of what runs beside the write.
func (tx *Tx) handOver() {
	list := tx.gathered
	if tx.gathered = nil; len(list) == 0 {
		return
	}
	tx.beside.Add(func() error {
		if all, can := tx.sql.(*postgres.Tx); can {
			return all.SendAll(tx.ctx, list)
		}
		for _, s := range list {
			if _, err := tx.sql.ExecContext(tx.ctx, s.Text, s.Args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// settle waits for all that was gathered, and has its error.
func (tx *Tx) settle() error {
	tx.handOver()
	return tx.beside.Wait()
}
