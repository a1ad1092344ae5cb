public import CarpoolHTTP
public import CarpoolSystem

/// One request, from its parameters to its record. Created by ``Session/request(_:id:)``; everything happens on the
/// session's loop.
public final class Request: BodyOwner {
    /// The id in every event and every call; unique for the life of the daemon, the same over all attempts (RL-01).
    public let id: String
    /// The parameters; a program that embeds the session adds to them before the request is sent. When the request is
    /// over, they lose what is only needed to send it.
    public internal(set) var parameters: RequestParameters
    /// The session that it belongs to.
    public let session: Session
    /// Its place in the order of the session's requests.
    var number = 0

    /// The state machine, which decides what happens next.
    var machine = RequestMachine()
    /// Whether the session is already carrying out the actions of ``machine``.
    var isAdvancing = false
    /// The attempts so far, each with its hops (RL-19).
    public internal(set) var attempts: [Attempt] = []
    /// The heads of the last attempt's responses, if ``DescriptorOutput/Settings/writesHeads`` asks for them.
    public internal(set) var heads: RecordedHeads?
    /// The bytes that are counted for the request in ``Session/memory``.
    var countedBytes = 0
    /// The head of the last response (RL-21).
    public internal(set) var response: ResponseHead?
    /// The body of the last response, or the part of it that has arrived.
    public internal(set) var body = ResponseBody()
    /// Whether the body of ``urlRequest`` was too large to be kept when the request was over.
    public private(set) var hasReleasedBody = false
    /// The results of the serializers, in order.
    public internal(set) var results: [SerializedResponse] = []
    /// The number of results, at the end of the list, that are announced after the retriers have decided.
    var deferredResultCount = 0
    /// When its steps happened.
    public internal(set) var timeline = Timeline()
    /// An object of the request's owner; the session does not use it.
    public var context: AnyObject?

    var transfer: (any TransportTask)?
    /// The redirect decision for the head of the current hop.
    var redirection = RedirectHandler.Step.deliver
    /// How the present task has authenticated so far; `nil` as long as it has not: most requests have no credential.
    var authentication: RequestAuthentication?
    /// The request's own jar; `nil` before it is first needed, and for the session's.
    var ownJar: CookieJar?
    /// Receives the body in place of ``body``; set before the request is resumed, and kept afterwards.
    var receiver: (any ResponseReceiver)?
    /// When progress of the body is reported, unless the request is a download.
    var receiveThrottle = ReceiveThrottle()
    /// The state of the body that is sent, if the request is an upload.
    var upload: UploadState?
    /// The end of the transfer, deferred while the request is paused.
    var deferredCompletion: DeferredCompletion?
    /// Whether the request's files are written; `nil` if it has none.
    var settlement: Settlement?
    /// The timer of the retry delay.
    var retryTimer: Timer?
    /// Aborts the serializer that has not answered; `nil` unless serializers run.
    var abortSerialization: (() -> Void)?
    /// The completions that wait until the body was moved to a file; `nil` if it is not being moved.
    var spilling: [(SessionError?) -> Void]?
    /// The history of the request with the network; `nil` if it has none.
    var network: NetworkHistory?
    /// How often the network had been lost when the current attempt began.
    var lossesAtStart = 0

    /// A class, because few requests have a deferred completion and all would carry its size.
    final class DeferredCompletion {
        let value: TransferCompletion

        init(_ value: TransferCompletion) { self.value = value }
    }

    /// Bytes of the current hop's body that were read: kept, passed on, or dropped because the response redirects.
    var hopBytes = 0
    /// Whether the caller has got the head of a response.
    private(set) var hasShownHead = false
    /// In the order in which they were added; nearly always one or two.
    private var completions: [(token: Int, body: (Request) -> Void)] = []
    private var lastCompletion = 0
    private var headCompletions: [(Request) -> Void] = []

    init(id: String, parameters: consuming RequestParameters, session: Session) {
        self.id = id
        self.parameters = consume parameters
        self.session = session
        if self.parameters.hashesBody { body = ResponseBody(isHashed: true) }
    }

    /// The last request that was built: redirects do not change it (RL-20).
    public var urlRequest: TransportRequest? {
        // By index: the last attempt as a value would be a copy of everything in it.
        let last = attempts.count - 1
        return last < 0 ? nil : attempts[last].request ?? attempts[last].unadapted
    }

    /// The URL of the last hop, after all redirects.
    public var url: String? { attempts.last?.hops.last?.url.description }

    // MARK: Operations of the owner

    /// Makes the request to send at once, if it is set up eagerly; otherwise ``resume()`` does (SE-11).
    public func setUp() {
        guard parameters.options.setup.value == .eager else { return }
        session.handle(.setUp, of: self)
    }

    /// Lets the resource timeout begin at an earlier time, before the request is resumed for the first time.
    public func beginTime(at start: MonotonicTime) { machine.deadline.begin(at: start) }

    /// The milliseconds that are left of the resource timeout.
    public var millisecondsLeft: Int { session.millisecondsLeft(of: self) }

    /// Starts or resumes the request. Returns whether the call changed anything: of a hundred calls the first does
    /// (RL-02).
    @discardableResult public func resume() -> Bool {
        machine.deadline.begin(at: session.scheduler.now)
        return session.handle(.resume, of: self)
    }

    /// Suspends the request: nothing more of the response is read, and nothing new is sent (RL-03). The idle timeout
    /// pauses meanwhile.
    @discardableResult public func suspend() -> Bool { session.handle(.suspend, of: self) }

    /// Changes the request's priority in the queue. Returns whether the call changed anything.
    @discardableResult public func setPriority(_ priority: TransferPriority) -> Bool {
        guard !isFinished, parameters.priority != priority else { return false }
        parameters.priority = priority
        transfer?.setPriority(priority)
        return true
    }

    /// Cancels the request. Returns whether the call changed anything: a request that is over stays as it is (RL-04).
    /// - Parameter producingResumeData: whether the partial file of a download is kept, so that another one can resume
    ///   it (DL-10, DL-11).
    @discardableResult public func cancel(producingResumeData: Bool = false) -> Bool {
        cancel(with: .explicitlyCancelled, producingResumeData: producingResumeData)
    }

    /// Cancels the request because the reader of its body cannot continue: the cause becomes the request's failure
    /// (ST-05).
    @discardableResult public func cancel(because cause: SessionError) -> Bool {
        cancel(with: .customSerializationFailed(cause), producingResumeData: false)
    }

    private func cancel(with reason: SessionError, producingResumeData: Bool) -> Bool {
        guard machine.handle(.cancel(reason)) else { return false }
        receiver?.requestDidCancel(keepingPartialFile: producingResumeData)
        session.advance(self)
        return true
    }

    /// Calls the body when the record is complete: now, if it is. Returns a token for ``remove(completion:)``.
    @discardableResult public func whenFinished(_ body: @escaping (Request) -> Void) -> Int {
        lastCompletion += 1
        if isFinished { body(self) } else { completions.append((lastCompletion, body)) }
        return lastCompletion
    }

    /// Calls the body once the head of the response has arrived, or the request is over without one.
    public func whenHeadReceived(_ body: @escaping (Request) -> Void) {
        if isPausedAtHead || isFinished { body(self) } else { headCompletions.append(body) }
    }

    /// Drops the bytes of the body if they cannot be kept.
    public func discardBody() { body.discard() }

    /// Removes a completion that was added with ``whenFinished(_:)``.
    public func remove(completion: Int) { completions.removeAll { $0.token == completion } }
}

// MARK: Operations of the session
extension Request {
    /// Its lifecycle state.
    public var state: RequestState { machine.lifecycle }
    /// Why it failed; the first reason of an attempt wins (RL-22).
    public var error: SessionError? { machine.failure }
    /// The failure of the response, which leaves nothing to serialize; a serializer's failure does not affect the
    /// others (RS-01).
    public var responseFailure: SessionError? { machine.hasNoResponse ? machine.failure : nil }
    /// How often the request was retried.
    public var retryCount: Int { machine.retryCount }
    /// Whether its record is complete; a cancelled request is finished a little later than it is cancelled.
    public var isFinished: Bool { machine.state == .over }
    /// Whether the body waits until the caller has seen the head (DR-03).
    public var isPausedAtHead: Bool { machine.pauseReasons.contains(.head) }
    /// Whether the session was invalidated and the request aborted, so that only the end is announced (session model
    /// 2.14).
    var isAborted: Bool { machine.isAborted }
    /// Whether nothing is left to do for the request except to finish it.
    var isOver: Bool { machine.isOver }
    /// Whether reading of the response is paused.
    var isPaused: Bool { !machine.pauseReasons.isEmpty || receiver?.isWaiting == true }

    /// Records the failure, unless an earlier one is known.
    func recordError(_ reason: SessionError) { machine.recordError(reason) }

    /// Ends the request because its session has ended: no call cancelled it, and no event says so.
    func abortForInvalidSession() { session.handle(.invalidated(.sessionInvalidated), of: self) }

    /// Resets what the last attempt received (RL-13).
    func reset() {
        response = nil
        releaseSentBytes()
        body.discard()
        body = ResponseBody(isHashed: parameters.hashesBody)
        settlement = nil
        receiver?.reset()
        receiveThrottle = ReceiveThrottle()
        results = []
        redirection = .deliver
        authentication = nil
    }

    /// Pauses the body, and calls the completions that wait for the head.
    func pauseAtHead() {
        machine.pauseReasons.insert(.head)
        hasShownHead = true
        callHeadCompletions()
    }

    /// The largest body that is kept with the request for ``CurlDescription``: many records are kept for a long time.
    private static let keptBodyBytes = 16_384

    /// Releases the bodies that were sent and will not be sent again: memory, and open files.
    private func releaseBodies() {
        if case .source(let source) = parameters.body { source.close() }
        let last = attempts.count - 1
        guard last >= 0 else { return }
        parameters.parameters = nil
        parameters.encodedParameters = nil
        parameters.uploadable = nil
        upload = nil
        authentication?.withheld = nil
        if case .file(let file, _, _) = parameters.body { file.close() } else { parameters.body = .none }
        // In place: a copy of an attempt costs more than what is done with it.
        for index in 0..<last { attempts[index].releaseBodies(keepingBytes: 0) }
        hasReleasedBody = attempts[last].releaseBodies(keepingBytes: Request.keptBodyBytes)
    }

    private func callHeadCompletions() {
        let completions = headCompletions
        headCompletions = []
        for completion in completions { completion(self) }
    }

    /// Drops what only sending needs, and calls the completions.
    func markFinished() {
        transfer = nil
        if case .connected(let socket)? = parameters.options.addresses.value?.socket { socket.close() }
        releaseBodies()
        releaseTrustMaterial()
        releaseJar()
        callHeadCompletions()
        let completions = completions
        self.completions = []
        for completion in completions { completion.body(self) }
    }
}
