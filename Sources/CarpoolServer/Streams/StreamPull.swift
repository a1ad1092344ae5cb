internal import CarpoolSession
internal import CarpoolSystem

/// The reader of a stream that `request.read` asks for one message at a time.
final class StreamPull: SlicedWork {
    let reader: StreamReader
    private let request: String
    private let record: RecordWriter
    private var attempt = 1
    private var waiting: (call: any Responder, timer: Timer)?
    private let loop: EventLoop
    /// Whether it is scheduled on the loop, because only input without a message was read so far, and there is more.
    private var isScheduled = false
    /// How far the stream is read although the call's time is over: the input had arrived before.
    private var lastPlace: Int64?

    init(request: String, reader: StreamReader, record: RecordWriter, loop: EventLoop) {
        self.request = request
        self.reader = reader
        self.record = record
        self.loop = loop
        reader.onReady = { [weak self] in
            if let self, !isScheduled, let call = waiting?.call { _ = answer(call) }
        }
    }

    /// Whether a call waits for the next message.
    var isWaiting: Bool { waiting != nil }

    /// Answers a call with the next message. Returns false if there is none, or if the search continues.
    func answer(_ call: any Responder) -> Bool {
        let (record, request, serializer) = (record, request, reader.serializer)
        let step = reader.deliver { message in
            attempt = message.attempt
            stopWaiting()
            call.answer { writer in
                writer.beginObject()
                record.write(message, of: request, as: serializer, to: &writer)
                writer.endObject()
            }
        }
        if step == .unfinished { schedule() }
        return step == .message
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        loop.runInSlices(self)
    }

    func runSlice() -> Bool {
        isScheduled = false
        guard let call = waiting?.call, !answer(call) else { return false }
        if let lastPlace, !isScheduled || reader.position > lastPlace { endWait(call) }
        return false
    }

    /// Lets a call wait for the next message.
    func wait(_ call: any Responder, milliseconds: Int) {
        guard !reader.isOver else { return answerWithPlace(to: call) }
        let timer = Timer { [weak self] in
            guard let self else { return }
            if isScheduled { lastPlace = reader.streamEnd } else { endWait(call) }
        }
        waiting = (call, timer)
        call.onCancel = { [weak self] in self?.stopWaiting() }
        loop.arm(timer, afterMilliseconds: milliseconds)
        // For input that has arrived meanwhile.
        if reader.position < reader.streamEnd { schedule() }
    }

    private func stopWaiting() {
        guard let timer = waiting?.timer else { return }
        waiting = nil
        lastPlace = nil
        loop.cancel(timer)
    }

    private func endWait(_ call: any Responder) {
        stopWaiting()
        answerWithPlace(to: call)
    }

    /// Answers that there is nothing.
    private func answerWithPlace(to call: any Responder) {
        let place = StreamPlace(sequence: reader.lastSequence, attempt: attempt, sizeBytes: 0)
        let (record, request, serializer) = (record, request, reader.serializer)
        call.answer { writer in
            writer.beginObject()
            record.write(place, request, serializer, to: &writer)
            writer.endObject()
        }
    }
}
