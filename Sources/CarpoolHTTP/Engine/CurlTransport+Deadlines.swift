internal import CarpoolSystem

// The deadlines of transfers.
extension CurlTransport {
    /// Arms the transfer's timer for its first deadline. Activity moves the deadline without moving the timer, which
    /// checks again when it fires. Timer and transfer retain each other until the transfer ends.
    func armDeadlineTimer(of transfer: CurlTransfer) {
        let timer = transfer.timer ?? Timer { transfer.transport.checkDeadlines(transfer) }
        transfer.timer = timer
        loop.arm(timer, at: transfer.deadlines.next.at)
    }

    private func checkDeadlines(_ transfer: CurlTransfer) {
        guard !transfer.hasEnded else { return }
        let next = transfer.deadlines.next
        guard next.at <= loop.now else { return armDeadlineTimer(of: transfer) }
        if next.kind == .idle, transfer.awaitsShare {
            transfer.deadlines.active(at: loop.now)
            return armDeadlineTimer(of: transfer)
        }
        finish(transfer, error: transfer.failure ?? transfer.timeoutError(next.kind))
    }
}
