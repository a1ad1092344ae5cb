/// Whoever takes events to a client.
protocol EventSink: AnyObject {
    /// Something waits in the journal; the sink asks for it at the end of the turn, or before its next answer.
    func eventsAreWaiting()
    /// Whether one more event may be queued.
    var takesEvents: Bool { get }
    /// Queues a notification: the beginning that names the subscription, and the rest.
    func queue(event head: [UInt8], _ rest: UnsafeRawBufferPointer)
    /// The daemon has ended a subscription.
    func forget(_ subscription: Subscription)
}
