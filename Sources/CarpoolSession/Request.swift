public import CarpoolHTTP

/// One request, from its parameters to its record. Made by ``Session/request(_:id:)``; everything happens on the session's loop.
public final class Request {
    /// The name that every event and every call uses; unique for the life of the daemon.
    public let id: String
    /// What was asked for.
    public let parameters: RequestParameters
    /// The session that it belongs to.
    public let session: Session

    /// Where it is in its life.
    public private(set) var state: RequestState = .initialized
    /// Its tries so far, each with its hops.
    public internal(set) var attempts: [Attempt] = []
    /// The head of the last response.
    public internal(set) var response: ResponseHead?
    /// The body of the last response, or what had arrived of it.
    public internal(set) var body = ResponseBody()
    /// Why it failed; the first reason wins.
    public private(set) var error: SessionError?
    /// Whether its record is complete; a cancelled request is finished a little later than it is cancelled.
    public private(set) var isFinished = false

    var transfer: Transfer?
    /// What was handed to the transport last.
    var current: TransportRequest?
    /// What follows from the head of the present hop.
    var step = RedirectHandler.Step.deliver
    /// Bytes of a body that nobody wants, because its response redirects.
    var discardedBytes = 0
    /// In the order in which they were added; nearly always one or two.
    private var completions: [(token: Int, body: (Request) -> Void)] = []
    private var lastCompletion = 0

    init(id: String, parameters: RequestParameters, session: Session) {
        self.id = id
        self.parameters = parameters
        self.session = session
    }

    /// Where the request ended up: the URL of the last hop.
    public var url: String? { attempts.last?.hops.last?.url.description }

    /// Sends it off. Only the first call does anything.
    public func resume() {
        guard advance(to: .resumed) else { return }
        session.eventMonitor.requestDidResume(self)
        session.perform(self)
    }

    /// Ends it. A request that is over stays as it is; gives whether the call changed anything.
    @discardableResult public func cancel() -> Bool {
        guard advance(to: .cancelled) else { return false }
        fail(.explicitlyCancelled)
        session.eventMonitor.requestDidCancel(self)
        guard let transfer else {
            session.finish(self)
            return true
        }
        session.transport.cancel(transfer)
        session.eventMonitor.requestDidCancelTask(self)
        return true
    }

    /// Calls the body when the record is complete: now, if it is. The number takes it back with ``forget(completion:)``.
    @discardableResult public func whenFinished(_ body: @escaping (Request) -> Void) -> Int {
        lastCompletion &+= 1
        if isFinished { body(self) } else { completions.append((lastCompletion, body)) }
        return lastCompletion
    }

    /// Drops the bytes of the body, where they cannot be kept.
    public func discardBody() { body.discard() }

    /// Moves the body to a file of the session's spool, if it is in memory.
    public func spillBody() throws(SessionError) { try body.spill(to: session.spool, owner: self) }

    /// Takes back a body that waits for the end.
    public func forget(completion: Int) { completions.removeAll { $0.token == completion } }

    /// Ends it because its session has ended: nobody has cancelled it, and no event says so.
    func lose(to reason: SessionError) {
        fail(reason)
        if let transfer { session.transport.cancel(transfer) } else { session.finish(self) }
    }

    /// Notes why it failed, unless an earlier reason is known.
    func fail(_ reason: SessionError) {
        if error == nil { error = reason }
    }

    /// Marks the record as complete and tells whoever waits.
    func markFinished() {
        guard !isFinished else { return }
        isFinished = true
        advance(to: .finished)
        transfer = nil
        current = nil
        session.eventMonitor.requestDidFinish(self)
        let completions = completions
        self.completions = []
        for completion in completions { completion.body(self) }
    }

    @discardableResult private func advance(to next: RequestState) -> Bool {
        guard state.canBecome(next) else { return false }
        state = next
        return true
    }
}
