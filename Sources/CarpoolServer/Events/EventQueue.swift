/// The position of a subscription in the journal, and how much waits for it. Decides when it is too far behind.
struct EventQueue {
    /// Events that a subscriber does not receive.
    struct Loss: Equatable {
        /// How many.
        var dropped: Int
        /// The number of the last event before them.
        let resume: Int
    }

    /// The result of adding an event.
    enum AddResult: Equatable {
        /// It waits with the others.
        case waits
        /// Too much waits now: none of it will be sent.
        case overflows
        /// It is lost, as those before it.
        case isLost
    }

    /// Everything up to here was sent, or does not match.
    private(set) var position: Int
    /// Matching events that wait, without those from before the subscription.
    private(set) var waiting = 0
    private(set) var waitingBytes = 0
    /// What was dropped since the subscriber was last notified.
    private(set) var loss: Loss?
    /// The first event that is counted as waiting: earlier ones are a replay, which the journal alone bounds.
    private let countedFrom: Int

    /// Makes the queue of a subscription that has everything up to the position, and that begins when the last event
    /// has this number.
    init(position: Int, last: Int) {
        self.position = position
        countedFrom = last &+ 1
        isReplaying = position < last
    }

    /// Whether it still replays events from before the subscription.
    private(set) var isReplaying: Bool

    /// Whether there is an event or a loss to send.
    var hasMore: Bool { isReplaying || waiting > 0 || loss != nil }

    /// Adds a matching event.
    mutating func add(_ sequence: Int, bytes: Int, limitBytes: Int) -> AddResult {
        guard loss == nil else {
            loss?.dropped += 1
            return .isLost
        }
        if waiting == 0, !isReplaying { position = sequence &- 1 }
        waiting += 1
        waitingBytes &+= bytes
        guard waitingBytes > limitBytes, !isReplaying else { return .waits }
        drop(waiting)
        return .overflows
    }

    /// Drops all waiting events: so many in all.
    mutating func drop(_ count: Int) {
        loss = Loss(dropped: count, resume: position)
        waiting = 0
        waitingBytes = 0
        isReplaying = false
    }

    /// Notes that a matching event was sent.
    mutating func didSend(_ sequence: Int, bytes: Int) {
        position = sequence
        guard sequence >= countedFrom else { return }
        waiting -= 1
        waitingBytes &-= bytes
    }

    /// Advances to this number: no event before it matches.
    mutating func skip(to sequence: Int) { position = max(position, sequence) }

    /// Notes that nothing waits up to the last event.
    mutating func catchUp(with last: Int) {
        position = last
        waiting = 0
        waitingBytes = 0
        isReplaying = false
    }

    /// Returns the loss, which the subscriber is notified of; it continues with the next event.
    mutating func takeLoss(upTo last: Int) -> Loss? {
        guard let loss else { return nil }
        self.loss = nil
        catchUp(with: last)
        return loss
    }
}
