/// A monitor made of a closure, which receives every event of every request.
public final class ClosureEventMonitor: EventMonitor {
    private let body: (SessionEvent, Request) -> Void

    /// Calls the closure with each event and its request, on the session's loop.
    public init(_ body: @escaping (_ event: SessionEvent, _ request: Request) -> Void) { self.body = body }

    /// Calls the closure.
    public func receive(_ event: SessionEvent, of request: Request) { body(event, request) }
}
