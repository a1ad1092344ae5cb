/// The slots of transfers in the admission queue.
extension CurlTransport {
    /// Releases the slot of a transfer that is paused, if not too many are.
    func releaseSlot(of transfer: CurlTransfer) {
        guard let slot = transfer.slot, !transfer.hasReleasedSlot else { return }
        transfer.hasReleasedSlot = queue.pause(slot)
        observeTurn()
    }

    /// Takes the slot of a transfer that is no longer paused.
    func acquireSlot(of transfer: CurlTransfer) {
        guard let slot = transfer.slot, transfer.hasReleasedSlot else { return }
        transfer.hasReleasedSlot = false
        queue.resume(slot)
    }

    /// Removes a waiting transfer from the queue.
    func leaveQueue(_ transfer: CurlTransfer) {
        if let slot = transfer.slot { queue.withdraw(slot) }
        transfer.slot = nil
    }

    /// Frees the slot of a transfer that was admitted.
    func finishSlot(_ transfer: CurlTransfer) {
        if let slot = transfer.slot { queue.finish(slot, turns: transfer.turnsTaken) }
        transfer.slot = nil
    }
}
