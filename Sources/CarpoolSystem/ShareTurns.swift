/// The order in which shares run jobs, with one queue for each user and kind of job, so that a user at its limit is
/// skipped in one step. A value.
struct ShareTurns {
    /// A group of shares that one limit applies to.
    private struct Group: Hashable {
        let user: UInt32?
        let isComputation: Bool
    }

    private struct Line {
        private var shares: [(number: Int, share: WorkerShare)] = []
        private var start = 0

        var first: (number: Int, share: WorkerShare)? { start < shares.count ? shares[start] : nil }

        mutating func append(_ number: Int, _ share: WorkerShare) { shares.append((number, share)) }

        mutating func removeFirst() {
            start += 1
            // The used front is removed from time to time, so that taking stays O(1) and the array does not grow.
            if start > 64, start * 2 > shares.count {
                shares.removeFirst(start)
                start = 0
            }
        }
    }

    private var lines: [Group: Line] = [:]
    private var lastNumber = 0

    /// Adds a share after all others.
    mutating func append(_ share: WorkerShare) {
        lastNumber += 1
        let group = Group(user: share.user, isComputation: share.isComputation)
        lines[group, default: Line()].append(lastNumber, share)
    }

    /// Removes and returns the first share that may run. Either all shares of one user and kind may run or none, so
    /// only the first of them is checked.
    mutating func takeFirst(where mayRun: (WorkerShare) -> Bool) -> WorkerShare? {
        var found: (group: Group, number: Int, share: WorkerShare)?
        for (group, line) in lines {
            guard let first = line.first, first.number < found?.number ?? .max, mayRun(first.share) else { continue }
            found = (group, first.number, first.share)
        }
        guard let found else { return nil }
        lines[found.group]?.removeFirst()
        if lines[found.group]?.first == nil { lines[found.group] = nil }
        return found.share
    }
}
