internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// The daemon's event monitor: writes each step into the journal, once, and notifies the subscribers whose filters it
/// passes.
///
/// Events are built only while there are subscribers, and for a while after the last one has left.
final class EventPublisher: EventMonitor, ConnectionObserver {
    let loop: EventLoop
    let epoch: String
    /// The daemon's own user.
    let owner: UInt32
    let record: RecordWriter
    /// The maxima in force.
    var limits: Limits
    /// The events since the first subscription.
    var journal = EventJournal(after: 0, limitBytes: 0)
    /// Whether there is a subscriber, or was a short while ago.
    var isRecording = false
    /// Whether a reader since the recording began may resume with a cursor on another connection.
    var mayBeResumed = false
    /// The types of events that are built.
    var recorded = RecordedTypes()
    /// Connections with subscriptions, or with calls that wait for an event.
    var listeners = EventListeners()
    /// How many subscriptions there are.
    var subscriptionCount = 0
    /// How many calls wait for an event.
    var pollCount = 0
    /// Events that were built and encoded.
    private(set) var built = 0
    /// Events that were dropped for subscribers that do not read.
    var dropped = 0

    /// Whether the event is written for its owner, who may read the secrets in it, or for other readers.
    let disclosure = Disclosure()
    private var openWriter = JSONWriter()
    private var fullWriter = JSONWriter()
    private let cursorPrefix: [UInt8]
    private var lastSubscription = 0
    /// Stops recording a while after the last subscriber has left.
    private(set) lazy var linger = Timer { [unowned self] in stopRecording() }
    /// Whether only a part of the journal is kept, because there was no subscriber for long.
    var isReduced = false
    /// Shrinks the journal when there was no subscriber for a minute.
    private(set) lazy var reduction = Timer { [unowned self] in
        isReduced = true
        limitJournal()
    }
    /// Sends bookmarks to subscriptions without events.
    private(set) lazy var bookmarks = Timer { [unowned self] in
        for listener in listeners.all { listener.sendBookmarks(toThoseBehind: 1) }
    }

    init(epoch: String, owner: UInt32, record: RecordWriter, loop: EventLoop, limits: Limits) {
        self.epoch = epoch
        self.owner = owner
        var record = record
        record.disclosure = disclosure
        self.record = record
        self.loop = loop
        self.limits = limits
        cursorPrefix = Array(#"{"cursor":"\#(epoch)."#.utf8)
    }

    /// The current cursor.
    var cursor: String { cursor(at: journal.last) }

    func cursor(at sequence: Int) -> String { EventCursor(epoch: epoch, sequence: sequence).text }

    /// The number of the next subscription.
    func nextSubscription() -> Int {
        lastSubscription += 1
        return lastSubscription
    }

    // MARK: Publishing

    /// Publishes the step, if there is a subscriber.
    func receive(_ event: SessionEvent, of request: Request) {
        guard isRecording else { return }
        callMethod(of: event, request)
    }

    /// Publishes an event; the body writes the members of `data`, and is called only if the type is recorded.
    ///
    /// Inlined, so that without subscribers not even the body's captures are made.
    @inline(__always)
    func publish(_ type: EventType, request: Request? = nil, data: (inout JSONWriter) -> Void = { _ in }) {
        guard recorded.types.contains(type) else { return }
        publish(type, request, request.map { subject(of: $0) }, data)
    }

    /// Publishes an event about a session, or about something else that belongs to one user.
    func publish(
        _ type: EventType, about subject: @autoclosure () -> EventSubject,
        data: (inout JSONWriter) -> Void = { _ in }
    ) {
        guard recorded.types.contains(type) else { return }
        publish(type, nil, subject(), data)
    }

    /// Publishes a step under its notification name, if a subscriber asks for notifications.
    @inline(__always)
    func notify(_ type: EventType, _ request: Request) {
        guard recorded.types.contains(type) else { return }
        publish(type, request, subject(of: request)) {
            $0.member("description", EventPublisher.description(of: request))
        }
    }

    /// Method, URL and status, as much as is known.
    private static func description(of request: Request) -> String {
        let url = TruncatedText.of(
            Redaction.withoutSecrets(request.parameters.url), bytes: EventPublisher.describedURLBytes)
        let status = request.response.map { " (\($0.status))" } ?? ""
        return "\(request.parameters.method.rawValue) \(url)\(status)"
    }

    private static let describedURLBytes = 2_045

    private func publish(
        _ type: EventType, _ request: Request?, _ subject: EventSubject?, _ data: (inout JSONWriter) -> Void
    ) {
        let attempt = request.map { max(1, $0.attempts.count) }
        let time = WallClock.microseconds()
        built += 1
        disclosure.foundSecret = false
        encode(type, time, subject, attempt, data, to: &openWriter)
        if disclosure.foundSecret {
            disclosure.isForOwner = true
            encode(type, time, subject, attempt, data, to: &fullWriter)
            disclosure.isForOwner = false
        }
        append(type, subject)
        notifyListeners(type, subject)
        if !bookmarks.isArmed { loop.arm(bookmarks, afterMilliseconds: limits.bookmarkMilliseconds) }
    }

    /// What the events of a request have in common.
    func subject(of request: Request) -> EventSubject {
        if let known = request.context as? EventSubject { return known }
        // A request without a client, such as one for a token.
        let subject = EventSubject(
            session: request.session.name, uid: request.session.user ?? owner, request: request.id)
        request.context = subject
        return subject
    }

    private func encode(
        _ type: EventType, _ time: Int64, _ subject: EventSubject?, _ attempt: Int?,
        _ data: (inout JSONWriter) -> Void, to writer: inout JSONWriter
    ) {
        writer.removeAll()
        writer.append(verbatim: cursorPrefix)
        writer.beginText()
        writer.integer(Int64(journal.last &+ 1))
        writer.append(verbatim: EventPublisher.quote)
        writer.member("time", time: time)
        writer.member("type", static: type.name)
        if let subject { writer.append(verbatim: subject.members) }
        writer.member("attempt", attempt)
        writer.key("data")
        writer.beginObject()
        data(&writer)
        writer.endObject()
        writer.endObject()
        // Closes the message around it, where it is sent as a notification.
        writer.endObject()
    }

    private static let quote = [UInt8(ascii: "\"")]

    private func append(_ type: EventType, _ subject: EventSubject?) {
        openWriter.withBytes { open in
            guard disclosure.foundSecret else { return append(open, nil, type, subject) }
            fullWriter.withBytes { append(open, $0, type, subject) }
        }
    }

    private func append(
        _ open: UnsafeRawBufferPointer, _ full: UnsafeRawBufferPointer?, _ type: EventType, _ subject: EventSubject?
    ) {
        let bytes = open.count &+ (full?.count ?? 0)
        while let surplus = journal.eventsToEvict(adding: bytes, of: subject?.uid) {
            willRemove(surplus)
            journal.forget(surplus)
        }
        journal.append(open, full: full, type: type, subject: subject)
    }
}
