internal import CarpoolSession
internal import CarpoolSystem

// Bodies that are too large for a client's lines go to the spool before their record is written.
extension RequestService {
    /// Whether the body of a request has to be moved to a file before its record can be written for a client.
    func mustSpill(
        _ entry: RequestEntry, for client: any Client, results: [SerializedResponse]? = nil,
        level: RecordLevel = .standard
    ) -> Bool {
        record.mustSpill(
            entry.request, maximumEncodedBytes: client.inlineBodyBytes, recordBytes: client.recordBytes,
            results: results, level: level)
    }

    /// Moves the body of a request to a file. Without room for it, the record says that the body is gone: the client
    /// could not read a longer line.
    func spill(_ entry: RequestEntry, then: @escaping () -> Void) {
        pendingAnswers.delayed += 1
        entry.request.spillBody { [self] error in
            pendingAnswers.delayed -= 1
            if let error {
                log.write(
                    .error, "body lost: it could not be written to the spool",
                    [("request", entry.request.id), ("error", error.description)])
                entry.request.discardBody()
            }
            then()
        }
    }

    /// Time after which a call that removes files is answered, even if the disk is not done.
    private static let removalMilliseconds = 1_000

    /// Removes files, and calls the body when that is done, or when it takes too long.
    func wait(for removal: (@escaping () -> Void) -> Void, then: @escaping () -> Void) {
        var isOver = false
        var timer: Timer?
        let end = { [loop] in
            guard !isOver else { return }
            isOver = true
            if let timer { loop.cancel(timer) }
            then()
        }
        removal(end)
        guard !isOver else { return }
        let limit = Timer(end)
        timer = limit
        loop.arm(limit, afterMilliseconds: RequestService.removalMilliseconds)
    }

    /// Starts the lease of a finished request's body, if nothing else keeps it.
    func lease(_ entry: RequestEntry) {
        guard entry.request.isFinished, !entry.isKept || entry.isDismissed, let body = spool.body(of: entry.request.id),
            body.expires == nil
        else { return }
        let end = WallClock.microseconds() + Int64(limits.spoolLeaseMilliseconds) * 1_000
        spool.lease(body, until: end, connection: entry.cancelsOnDisconnect ? entry.connection : nil)
    }

    /// Calls the body, which answers a call, when the request is over. Returns a closure that cancels this.
    func wait(for entry: RequestEntry, _ body: @escaping () -> Void) -> () -> Void {
        entry.wait(on: loop, pendingAnswers, body)
    }
}
