internal import CarpoolJSON

/// Sends the messages of response streams to a client.
protocol StreamSink: AnyObject {
    /// Whether another message may be queued.
    var takesStreams: Bool { get }
    /// Queues one message; the body writes the members of its parameters.
    func send(streamMessage write: (inout JSONWriter) -> Void)
    /// Removes a reader after the end of its stream was sent.
    func forget(feed name: String)
}
