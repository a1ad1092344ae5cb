public import CarpoolHTTP
internal import CarpoolSystem

/// One request, from its parameters to its record. Made by ``Session/request(_:id:)``; everything happens on the session's loop.
public final class Request {
    /// The name that every event and every call uses; unique for the life of the daemon, the same over all attempts (RL-01).
    public let id: String
    /// What was asked for; a program that embeds the session adds to it before the request is sent. When the request is over, without what is
    /// only needed to send it.
    public internal(set) var parameters: RequestParameters
    /// The session that it belongs to.
    public let session: Session

    /// What happens to it next.
    var machine = RequestMachine()
    /// Whether its session is carrying out what ``machine`` says.
    var isAdvancing = false
    /// Its tries so far, each with its hops (RL-19).
    public internal(set) var attempts: [Attempt] = []
    /// What is counted for it in ``Session/memory``.
    var countedBytes = 0
    /// The head of the last response (RL-21).
    public internal(set) var response: ResponseHead?
    /// The body of the last response, or what had arrived of it.
    public internal(set) var body = ResponseBody()
    /// Whether the body of ``urlRequest`` was too large to be kept when the request was over.
    public private(set) var hasLetGoOfBody = false
    /// What the serializers made of the body, in their order.
    public internal(set) var results: [SerializedResponse] = []
    /// How many of them, the last ones, are announced when the retriers have decided.
    var heldResults = 0
    /// When its steps happened.
    public internal(set) var timeline = Timeline()
    /// Whatever its holder wants to find again when it hears of the request; the session leaves it alone.
    public var context: AnyObject?

    var transfer: (any TransportTask)?
    /// What follows from the head of the present hop.
    var redirection = RedirectHandler.Step.deliver
    /// Takes the body in place of ``body``; set before the request is resumed, and stays.
    var receiver: (any ResponseReceiver)?
    /// When it is told how much of the body has come, unless it is a download.
    var receivePace = ReceivePace()
    /// What is known of the body that it sends, if it is an upload.
    var upload: UploadState?
    /// The end of the transfer, while the request is held up.
    var heldCompletion: HeldCompletion?
    /// Whether its files are written; `nil` if it has none.
    var settlement: Settlement?
    /// Sends it again when its time has come.
    var retryTimer: Timer?
    /// The serializers at work.
    var serialization: SerializationRun?
    /// Who waits until its body is in a file, while it is moved there.
    var spilling: [(SessionError?) -> Void]?
    /// What it has been through with the network; `nil` for nothing.
    var network: NetworkHistory?
    /// How often the network had been lost when the present attempt began.
    var lossesAtStart = 0

    /// An object, because few requests have one and all would carry its size.
    final class HeldCompletion {
        let value: TransferCompletion

        init(_ value: TransferCompletion) { self.value = value }
    }

    /// Bytes of the present hop's body that were read: kept, passed on, or dropped because the response redirects.
    var hopBytes = 0
    /// In the order in which they were added; nearly always one or two.
    private var completions: [(token: Int, body: (Request) -> Void)] = []
    private var lastCompletion = 0
    private var headCompletions: [(Request) -> Void] = []

    init(id: String, parameters: consuming RequestParameters, session: Session) {
        self.id = id
        self.parameters = parameters
        self.session = session
        if self.parameters.hashesBody { body = ResponseBody(isHashed: true) }
        guard self.parameters.kind == .download else { return }
        let download = Download(self.parameters.download ?? DownloadParameters())
        download.partial?.request = self
        receiver = download
    }

    /// The request that was made last: redirects do not change it (RL-20).
    public var urlRequest: TransportRequest? {
        // By place: the last attempt as a value would be a copy of all that is in it.
        let last = attempts.count - 1
        return last < 0 ? nil : attempts[last].request ?? attempts[last].unadapted
    }

    /// What comes of a request of kind ``RequestKind/stream``, for its readers.
    public var stream: ResponseStream? { receiver as? ResponseStream }

    /// Where the request ended up: the URL of the last hop.
    public var url: String? { attempts.last?.hops.last?.url.description }

    // MARK: What its holder may do

    /// Makes the request to send at once, if it is to be set up eagerly; else ``resume()`` does (SE-11).
    public func setUp() {
        guard parameters.options.setup.value == .eager else { return }
        session.handle(.setUp, of: self)
    }

    /// Sends it off, or lets it go on. Returns whether the call changed anything: of a hundred calls the first does (RL-02).
    @discardableResult public func resume() -> Bool { session.handle(.resume, of: self) }

    /// Suspends it: nothing more of the response is read, and nothing is sent that was not begun (RL-03). The idle timeout pauses meanwhile.
    @discardableResult public func suspend() -> Bool { session.handle(.suspend, of: self) }

    /// Changes how soon it has its turn, if it waits for one. Gives whether the call changed anything.
    @discardableResult public func setPriority(_ priority: TransferPriority) -> Bool {
        guard !isFinished, parameters.priority != priority else { return false }
        parameters.priority = priority
        transfer?.setPriority(priority)
        return true
    }

    /// Ends it. A request that is over stays as it is; gives whether the call changed anything (RL-04).
    /// - Parameter producingResumeData: whether what a download has got so far stays, for another one to go on with (DL-10, DL-11).
    @discardableResult public func cancel(producingResumeData: Bool = false) -> Bool {
        cancel(with: .explicitlyCancelled, producingResumeData: producingResumeData)
    }

    /// Ends it because whoever reads its body can do nothing with that: the cause becomes the request's failure (ST-05).
    @discardableResult public func cancel(because cause: SessionError) -> Bool {
        cancel(with: .customSerializationFailed(cause), producingResumeData: false)
    }

    private func cancel(with reason: SessionError, producingResumeData: Bool) -> Bool {
        guard machine.handle(.cancel(reason)) else { return false }
        download?.leavesPartialFile = producingResumeData
        session.advance(self)
        return true
    }

    /// Calls the body when the record is complete: now, if it is. The number takes it back with ``forget(completion:)``.
    @discardableResult public func whenFinished(_ body: @escaping (Request) -> Void) -> Int {
        lastCompletion &+= 1
        if isFinished { body(self) } else { completions.append((lastCompletion, body)) }
        return lastCompletion
    }

    /// Calls the body once the head of the response is there, or the request is over without one.
    public func whenHeaded(_ body: @escaping (Request) -> Void) {
        if isHeld || isFinished { body(self) } else { headCompletions.append(body) }
    }

    /// Has serializers work on the body that is there, when the request is over, without sending anything again (RL-17). After a failure each of
    /// them gives that failure (RL-18).
    public func serialize(
        by serializers: [any ResponseSerializer], completion: @escaping ([SerializedResponse]) -> Void
    ) {
        whenFinished { request in SerializationRun(request, serializers, completion: completion).step() }
    }

    /// Its download, if it is one.
    public var download: Download? { receiver as? Download }

    /// What another request can go on with: a token of a download that is under way or has failed (DL-11, DL-12).
    public var resumeData: String? { download?.resumeData(for: self) }

    /// Removes what a download that has failed has left to go on with; it is gone when the completion is called.
    public func discardPartialFile(completion: @escaping () -> Void = {}) {
        guard isFinished, let download else {
            download?.leavesPartialFile = false
            return completion()
        }
        download.discard(of: self, completion: completion)
    }

    /// Drops the bytes of the body, where they cannot be kept.
    public func discardBody() { body.discard() }

    /// Takes back a body that waits for the end.
    public func forget(completion: Int) { completions.removeAll { $0.token == completion } }
}

// MARK: What its session does with it
extension Request {
    /// Its lifecycle state.
    public var state: RequestState { machine.lifecycle }
    /// Why it failed; the first reason of an attempt wins (RL-22).
    public var error: SessionError? { machine.failure }
    /// Why there is nothing to serialize; the failure of one serializer is not that of the others (RS-01).
    public var responseFailure: SessionError? { machine.hasNoResponse ? machine.failure : nil }
    /// How often it was sent again.
    public var retryCount: Int { machine.retryCount }
    /// Whether its record is complete; a cancelled request is finished a little later than it is cancelled.
    public var isFinished: Bool { machine.state == .over }
    /// Whether the body waits until somebody has looked at the head (DR-03).
    public var isHeld: Bool { machine.holds.contains(.head) }
    /// Whether its session ended, so that only its end is announced (session model 2.14).
    var isLost: Bool { machine.isLost }
    /// Whether nothing is left to do for it except to finish it.
    var isOver: Bool { machine.isOver }
    /// Whether nothing more of the response is to be read for now.
    var isHeldUp: Bool { !machine.holds.isEmpty || receiver?.isHoldingUp == true }

    /// Notes why it failed, unless an earlier reason is known.
    func recordError(_ reason: SessionError) { machine.recordError(reason) }

    /// Ends it because its session has ended: no call cancelled it, and no event says so.
    func abortForInvalidSession() { session.handle(.invalidated(.sessionInvalidated), of: self) }

    /// Forgets what the last attempt brought (RL-13).
    func reset() {
        response = nil
        letGoOfSentBytes()
        body.discard()
        body = ResponseBody(isHashed: parameters.hashesBody)
        settlement = nil
        receiver?.reset()
        receivePace = ReceivePace()
        results = []
        redirection = .deliver
    }

    /// Lets the body wait, and tells whoever asked for that.
    func hold() {
        machine.holds.insert(.head)
        tellHead()
    }

    /// The largest body that is kept with the request for ``CurlDescription``: many requests are kept for long.
    private static let keptBodyBytes = 16_384

    /// Lets go of what was sent, which nobody sends again: bytes that take room, and files that are open.
    private func letGoOfBodies() {
        if case .source(let source) = parameters.body { source.close() }
        let last = attempts.count - 1
        guard last >= 0 else { return }
        parameters.parameters = nil
        parameters.encodedParameters = nil
        parameters.uploadable = nil
        upload = nil
        if case .file(let file, _, _) = parameters.body { file.close() } else { parameters.body = .none }
        // In place: a copy of an attempt costs more than what is done with it.
        for index in 0..<last { attempts[index].letGoOfBodies(keepingBytes: 0) }
        hasLetGoOfBody = attempts[last].letGoOfBodies(keepingBytes: Request.keptBodyBytes)
    }

    private func tellHead() {
        let completions = headCompletions
        headCompletions = []
        for completion in completions { completion(self) }
    }

    /// Drops what only sending needs, and calls those who wait for the end.
    func markFinished() {
        transfer = nil
        letGoOfBodies()
        tellHead()
        let completions = completions
        self.completions = []
        for completion in completions { completion.body(self) }
    }
}
