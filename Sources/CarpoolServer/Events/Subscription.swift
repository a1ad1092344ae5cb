internal import CarpoolJSON
internal import CarpoolSystem

/// One subscription of one connection.
final class Subscription {
    /// What happens to a subscription that is too far behind.
    enum LagPolicy: String {
        /// Waiting events are dropped, and the subscription continues.
        case drop
        /// The subscription is closed.
        case close
    }

    /// Why the daemon has closed a subscription.
    enum Ending: String {
        /// Its one request is over.
        case requestFinished = "request_finished"
        /// It was too far behind, and has the policy `close`.
        case lagged
        /// The connection is about to be closed by the daemon.
        case connectionClosing = "connection_closing"
    }

    let id: String
    let filter: EventFilter
    let lagPolicy: LagPolicy
    /// Whose secrets it may read.
    let reader: ClientIdentity
    /// Where its events go.
    unowned let sink: any EventSink
    /// Everything of its notifications before the event itself.
    let head: [UInt8]
    /// Types that it reads: those that it sends, and those that end a throttled progress.
    let eventTypes: EventTypeSet
    var queue: EventQueue
    /// Its share of the quota of subscriptions, until it is removed.
    var ticket: QuotaLedger.Ticket?
    /// Throttles progress events, if the client has asked for that.
    var throttle: ProgressThrottle?
    /// The listener of its connection and its place there, until it is removed.
    var listener: EventListener?
    var place: Int?
    /// Whether the client knows of it: its events come after the answer that names it.
    var isAnnounced = false
    /// Whether it ends as soon as everything that waits is sent.
    var isEnding = false

    /// Whether it has lost events and has the policy `close`.
    var isToCloseForLag: Bool { lagPolicy == .close && queue.loss != nil }

    init(
        id: String, filter: EventFilter, sink: any EventSink, reader: ClientIdentity, queue: EventQueue,
        lagPolicy: LagPolicy = .drop, progressMilliseconds: Int = 0
    ) {
        self.id = id
        self.filter = filter
        self.sink = sink
        self.reader = reader
        self.queue = queue
        self.lagPolicy = lagPolicy
        var eventTypes = filter.types
        if progressMilliseconds > 0, eventTypes.intersects(ProgressTypes.steps) {
            throttle = ProgressThrottle(intervalMilliseconds: progressMilliseconds)
            eventTypes.formUnion(ProgressTypes.endings)
        }
        self.eventTypes = eventTypes
        var writer = JSONWriter()
        Notification.begin(subscription: id, to: &writer)
        head = writer.bytes
    }

    /// Fires when a waiting progress event is due.
    private(set) lazy var throttleTimer = Timer { [unowned self] in sink.eventsAreWaiting() }

    /// Whether there is something to send when its client has room.
    var wantsTurn: Bool { queue.hasMore || isEnding || throttle != nil }

    /// Whether it is about one request only.
    var isOfOneRequest: Bool {
        if case .request = filter.scope { true } else { false }
    }
}
