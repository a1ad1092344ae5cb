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

    /// Moves the body of a request to a file. Without room for it, or when the limit has passed before, the record says
    /// that the body is gone: the client could not read a longer line.
    func spill(
        _ entry: RequestEntry, within milliseconds: Int = RequestService.diskMilliseconds, then: @escaping () -> Void
    ) {
        pendingAnswers.delayed += 1
        wait(within: milliseconds) { done in
            entry.request.spillBody { [self] error in
                if let error {
                    log.write(
                        .error, "body lost: it could not be written to the spool",
                        [("request", entry.request.id), ("error", error.description)])
                    entry.request.discardBody()
                }
                done()
                // The file of one that was answered before is removed by no other step.
                lease(entry)
            }
        } then: { [self] in
            pendingAnswers.delayed -= 1
            then()
        }
    }

    /// Time after which a call that removes or writes files is answered, even if the disk is not done.
    static let diskMilliseconds = 1_000
    /// The least time for the disk when that of a request is over.
    private static let leastDiskMilliseconds = 100

    /// The time that a call which performs a request may wait for the disk when the request is over.
    func diskMilliseconds(of request: Request) -> Int {
        max(RequestService.leastDiskMilliseconds, request.millisecondsLeft)
    }

    /// Begins work of a disk, and calls the body when that is done, or when it takes too long.
    func wait(
        within milliseconds: Int = RequestService.diskMilliseconds, for work: (@escaping () -> Void) -> Void,
        then: @escaping () -> Void
    ) {
        work(loop.beginWait(milliseconds: milliseconds) { _ in then() })
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
