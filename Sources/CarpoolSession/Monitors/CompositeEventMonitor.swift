/// Several monitors as one: each receives every event, in the order in which they were given.
public final class CompositeEventMonitor: EventMonitor {
    /// The monitors that receive the events.
    public let monitors: [any EventMonitor]

    /// Joins monitors.
    public init(_ monitors: [any EventMonitor]) { self.monitors = monitors }

    /// Passes the event on.
    public func receive(_ event: SessionEvent, of request: Request) {
        for monitor in monitors { monitor.receive(event, of: request) }
    }

    /// Passes the event on.
    public func sessionDidBecomeInvalid(_ session: Session) {
        for monitor in monitors { monitor.sessionDidBecomeInvalid(session) }
    }
}
