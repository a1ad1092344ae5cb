internal import CarpoolJSON
internal import CarpoolSession
internal import CarpoolSystem

extension RequestService {
    /// The writer of a request's record for a client: secrets are for the client that made the request.
    func record(of entry: RequestEntry, for client: any Client) -> RecordWriter {
        entry.client == client.identity ? record : record.forOthers
    }

    /// Writes the record of a request for a client, once a turn for all calls that ask for the same.
    func writeRecord(
        of entry: RequestEntry, for client: any Client, level: RecordLevel = .standard, to writer: inout JSONWriter
    ) {
        let (record, limit) = (record(of: entry, for: client), client.recordBytes)
        guard entry.isAwaitedByMany else {
            return record.write(entry.request, level: level, atMost: limit, to: &writer)
        }
        let key = RecordCache.Key(
            turn: loop.turns, request: entry.sequence, isForOthers: record.disclosure != nil, level: level,
            limit: limit, status: RecordCache.Status(entry.request, spool.body(of: entry.request.id)))
        if let text = recordCache[key] { return writer.raw(text) }
        let start = writer.count
        record.write(entry.request, level: level, atMost: limit, to: &writer)
        writer.withBytes { recordCache.keep(UnsafeRawBufferPointer(rebasing: $0[start...]), for: key) }
    }
}

// Deferred answers, and the memory of dismissed requests that have some.
extension RequestService {
    /// Notes that one more answer about a request is deferred.
    func beginDeferredAnswer(for entry: RequestEntry) {
        entry.deferredAnswers += 1
        pendingAnswers.delayed += 1
        noteMemory(of: entry)
    }

    /// Notes that a deferred answer about a request was sent or dropped.
    func endDeferredAnswer(for entry: RequestEntry) {
        entry.deferredAnswers -= 1
        pendingAnswers.delayed -= 1
        noteMemory(of: entry)
    }

    /// Counts a dismissed request as unread output of its user while answers about it are deferred, once for all of
    /// them.
    func noteMemory(of entry: RequestEntry) {
        let bytes = entry.deferredAnswers > 0 && entry.isDismissed ? entry.recordBytes : 0
        let more = bytes - entry.deferredBytes
        guard more != 0 else { return }
        entry.deferredBytes = bytes
        memory.output.change(entry.client.uid, by: more)
        if more > 0 { memory.outputDidGrow() }
    }
}
