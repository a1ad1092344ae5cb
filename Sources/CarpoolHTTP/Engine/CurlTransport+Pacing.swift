internal import CarpoolSystem

/// Divides the turns of the loop among large transfers: each moves a share, then waits for the others and for small
/// transfers.
extension CurlTransport {
    /// An entry of the bulk queue, which waits for its share of a later turn.
    enum Bulk {
        /// A ready connection over which much was moved when it was last served.
        case connection(OriginConnection)
        /// A transfer that was paused because it has used its share.
        case transfer(CurlTransfer)
    }

    /// Whether the turn has lasted so long that deferrable work waits for the next one; reads the clock.
    var isTurnOld: Bool { MonotonicTime.read().microseconds(since: loop.now) >= TurnBudget.turnMicroseconds }

    /// Returns whether a piece of a body must wait: neither the transfer's first in this turn, nor in the middle of a
    /// buffer of libcurl, of which it would have to make a copy.
    func mustWait(_ transfer: CurlTransfer, with bytes: UnsafeRawBufferPointer) -> Bool {
        let isLast = transfer.pieces.isLast(bytes)
        return mustWait(transfer, isWhole: isLast)
    }

    /// Returns whether a transfer must move nothing more in this turn; then it is resumed in a later one, and the
    /// callback that asked returns a pause to libcurl. Called from within libcurl.
    func mustWait(_ transfer: CurlTransfer, isWhole: Bool = true) -> Bool {
        budget.begin(turn: loop.turns)
        if transfer.turn != loop.turns {
            transfer.turn = loop.turns
            transfer.movedInTurn = 0
        }
        let share = TurnBudget.share(waiting: bulk.count)
        let isShared = transfer.connection?.isShared == true
        let own = transfer.movedInTurn
        guard budget.mustWait(own: own, share: share, isShared: isShared, isWhole: isWhole) else { return false }
        if !transfer.hasUsedItsShare {
            transfer.hasUsedItsShare = true
            if !isShared { transfer.connection?.hasUsedItsShare = true }
            _ = bulk.append(.transfer(transfer))
            observeTurn()
        }
        return true
    }

    /// Records bytes of a body that were moved, in either direction. Called from within libcurl, after
    /// ``mustWait(_:)``.
    func noteMoved(_ count: Int, by transfer: CurlTransfer) {
        budget.move(count)
        transfer.movedInTurn &+= count
        transfer.connection?.moved &+= count
    }

    /// Defers a connection until the small ones of this turn are served.
    func serveLater(_ connection: OriginConnection, _ bits: Int32) {
        connection.readyBits |= bits
        guard !connection.isQueued else { return }
        connection.isQueued = true
        _ = bulk.append(.connection(connection))
        observeTurn()
    }

    /// Serves the bulk queue in order until the turn's budget is spent; at least one entry.
    func serveBulk() {
        guard !bulk.isEmpty else { return }
        budget.begin(turn: loop.turns)
        for _ in 0..<bulk.count {
            guard !budget.isSpent, let next = bulk.popFirst() else { break }
            switch next {
            case .connection(let connection): connection.pool.multi.serveQueued(connection)
            case .transfer(let transfer): resumeWithNewShare(transfer)
            }
            if isTurnOld { break }
        }
        if !bulk.isEmpty { observeTurn() }
    }

    private func resumeWithNewShare(_ transfer: CurlTransfer) {
        guard transfer.hasUsedItsShare else { return }
        transfer.hasUsedItsShare = false
        transfer.connection?.hasUsedItsShare = false
        // A transfer that its owner has paused is resumed by its owner only.
        guard case .running(let easy) = transfer.phase, !transfer.deadlines.isPaused else { return }
        transfer.deadlines.active(at: loop.now)
        resumeInLibcurl(transfer, easy)
        transfer.pool?.multi.runNow()
    }
}
