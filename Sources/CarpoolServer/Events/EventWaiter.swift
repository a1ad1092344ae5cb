/// A call that waits for events, as the listener of its connection sees it.
protocol EventWaiter: AnyObject {
    /// The events that it waits for.
    var filter: EventFilter { get }
    /// Its place among the calls of its connection, while it waits.
    var place: Int? { get set }
    /// The connection that it waits on.
    var sink: any EventSink { get }
    /// Called for each event that passes the filter.
    func wake(_ sequence: Int)
}
