internal import CarpoolJSON

/// Sends notifications that are not part of the event stream.
protocol NotificationSink: AnyObject {
    /// Whether the client has read everything so far.
    var isDrained: Bool { get }
    /// The maximum length of a record, so that the client accepts the line that carries it.
    var recordBytes: Int { get }
    /// Queues one notification; the body writes the whole message.
    func send(notification write: (inout JSONWriter) -> Void)
}
