package ledger

// PositionsQuery is the statement of Positions, without its order.
const PositionsQuery = positionsQuery
