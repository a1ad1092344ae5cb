internal import CarpoolSession
internal import CarpoolSystem

/// The one reader of a stream that is asked for one message at a time.
final class StreamPull {
    let reader: StreamReader
    private let request: String
    private let record: RecordWriter
    private var attempt = 1
    private var waiting: (call: Call, timer: Timer)?
    private let loop: EventLoop

    init(request: String, reader: StreamReader, record: RecordWriter, loop: EventLoop) {
        self.request = request
        self.reader = reader
        self.record = record
        self.loop = loop
        reader.onReady = { [weak self] in
            if let self, let call = waiting?.call { _ = answer(call) }
        }
    }

    /// Whether a call waits for the next message.
    var isWaiting: Bool { waiting != nil }

    /// Answers a call with the next message. Gives false if there is none.
    func answer(_ call: Call) -> Bool {
        let (record, request, serializer) = (record, request, reader.serializer)
        return reader.give { message in
            attempt = message.attempt
            stopWaiting()
            call.answer { writer in
                writer.beginObject()
                record.write(message, of: request, as: serializer, to: &writer)
                writer.endObject()
            }
        }
    }

    /// Has a call wait for the next message.
    func wait(_ call: Call, milliseconds: Int) {
        guard !reader.isOver else { return tellPlace(to: call) }
        let timer = Timer { [weak self] in
            self?.waiting = nil
            self?.tellPlace(to: call)
        }
        waiting = (call, timer)
        call.onCancel = { [weak self] in self?.stopWaiting() }
        loop.arm(timer, afterMilliseconds: milliseconds)
    }

    private func stopWaiting() {
        guard let timer = waiting?.timer else { return }
        waiting = nil
        loop.cancel(timer)
    }

    /// Answers that there is nothing.
    private func tellPlace(to call: Call) {
        let place = StreamPlace(sequence: reader.lastSequence, attempt: attempt, sizeBytes: 0)
        let (record, request, serializer) = (record, request, reader.serializer)
        call.answer { writer in
            writer.beginObject()
            record.write(place, request, serializer, to: &writer)
            writer.endObject()
        }
    }
}
