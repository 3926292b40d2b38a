package sessions

import (
	"context"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/store"
)

// List reads one page of users, in order of their ids. A person who manages a site's users sees only those of the site.
func (a *Accounts) List(ctx context.Context, actor access.Actor, f people.UserFilter, page store.Page) (list store.List[people.UserRow], err error) {
	may := access.ManageUsers
	if f.SiteID != 0 && f.SiteID == actor.SiteID {
		may = access.ManageMembers
	}
	if err := actor.Require(may); err != nil {
		return list, err
	}
	list.Total = -1
	err = a.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		list.Items, err = people.UsersPage(tx, f, page)
		return err
	})
	if len(list.Items) > page.Size {
		list.Items, list.More = list.Items[:page.Size], true
	}
	return list, err
}
