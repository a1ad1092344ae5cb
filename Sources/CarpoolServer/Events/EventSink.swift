/// Sends events to a client.
protocol EventSink: AnyObject {
    /// Events are waiting in the journal; the sink reads them at the end of the turn, or before its next answer.
    func eventsAreWaiting()
    /// Whether one more event may be queued.
    var takesEvents: Bool { get }
    /// Queues a notification: the beginning that names the subscription, and the rest.
    func queue(event head: [UInt8], _ rest: UnsafeRawBufferPointer)
    /// Removes a subscription that the daemon has ended.
    func forget(subscription id: String)
}
