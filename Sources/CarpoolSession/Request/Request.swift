public import CarpoolHTTP

/// One request, from its parameters to its record. Made by ``Session/request(_:id:)``; everything happens on the session's loop.
public final class Request {
    /// The name that every event and every call uses; unique for the life of the daemon, the same over all attempts (RL-01).
    public let id: String
    /// What was asked for; a program that embeds the session adds to it before the request is sent. When the request is over, without what is
    /// only needed to send it.
    public internal(set) var parameters: RequestParameters
    /// The session that it belongs to.
    public let session: Session

    /// Where it is in its life.
    public private(set) var state: RequestState = .initialized
    /// Its tries so far, each with its hops (RL-19).
    public internal(set) var attempts: [Attempt] = []
    /// What is counted for it in ``Session/memory``.
    var countedBytes = 0
    /// How often it was sent again.
    public internal(set) var retryCount = 0
    /// The head of the last response (RL-21).
    public internal(set) var response: ResponseHead?
    /// The body of the last response, or what had arrived of it.
    public internal(set) var body = ResponseBody()
    /// Why it failed; the first reason of an attempt wins (RL-22).
    public private(set) var error: SessionError?
    /// Why there is nothing to serialize; a serializer's own failure is none of the other serializers' (RS-01).
    public var responseFailure: SessionError? { hasNoResponse ? error : nil }
    /// Whether the body of ``urlRequest`` was too large to be kept when the request was over.
    public private(set) var hasLetGoOfBody = false
    /// What the serializers made of the body, in their order.
    public internal(set) var results: [SerializedResponse] = []
    /// How many of them, the last ones, are announced when the retriers have decided.
    var heldResults = 0
    /// When its steps happened.
    public internal(set) var timeline = Timeline()
    /// Whether its record is complete; a cancelled request is finished a little later than it is cancelled.
    public private(set) var isFinished = false
    /// Whether the body waits for somebody who looks at the head first (DR-03).
    public private(set) var isHeld = false

    /// Whatever its holder wants to find again when it hears of the request; the session leaves it alone.
    public var context: AnyObject?

    /// Whether there is nothing to serialize: then ``error`` says why.
    var hasNoResponse = false
    /// What the session is doing for it.
    var phase = RequestPhase.idle
    var transfer: (any TransportTask)?
    /// What follows from the head of the present hop.
    var redirection = RedirectHandler.Step.deliver
    /// Takes the body in place of ``body``; set before the request is resumed, and stays.
    var receiver: (any ResponseReceiver)?
    /// When it is told how much of the body has come, unless it is a download.
    var receivePace = ReceivePace()
    /// What is known of the body that it sends, if it is an upload.
    var upload: UploadState?
    /// Whether somebody is being asked about the redirect.
    var isDecidingRedirect = false
    /// The end of the transfer, while the request is held up.
    var heldCompletion: HeldCompletion?
    /// Whether its files are written; `nil` if it has none.
    var settlement: Settlement?
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
    /// Whether its session has ended under it, so that no retrier is asked and no more is told than that it is over (§2.14).
    private(set) var isLost = false
    /// The number of the question that an adapter, a validator or a retrier was asked last.
    private var question = 0
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
    public func setUp() { session.didSetUp(self) }

    /// Sends it off, or lets it go on. Gives whether the call changed anything: of a hundred calls the first does (RL-02).
    @discardableResult public func resume() -> Bool {
        if isHeld, state == .resumed {
            isHeld = false
            session.goOn(self)
            return true
        }
        guard advance(to: .resumed) else { return false }
        session.notify(.didResume, of: self)
        session.didResume(self)
        return true
    }

    /// Holds it up: nothing more of the response is read, and nothing is sent that was not begun (RL-03). The idle time stands still meanwhile.
    @discardableResult public func suspend() -> Bool {
        guard advance(to: .suspended) else { return false }
        session.notify(.didSuspend, of: self)
        session.didSuspend(self)
        return true
    }

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
        guard !isFinished, advance(to: .cancelled) else { return false }
        download?.leavesPartialFile = producingResumeData
        end(with: reason)
        session.notify(.didCancel, of: self)
        session.didCancel(self)
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
    /// Whether nothing more is to be read of the response for now.
    var isHeldUp: Bool {
        state == .suspended || isHeld || isDecidingRedirect || network?.wait != nil || receiver?.isHoldingUp == true
    }

    /// Whether there is nothing more to do for it but to tell its end.
    var isOver: Bool {
        switch phase {
        case .serializing, .over: true
        default: false
        }
    }

    /// Notes that somebody is asked something, and gives the question's number.
    func ask() -> Int {
        question &+= 1
        return question
    }

    /// Whether an answer is the one that is waited for; there is only one to each question.
    func takes(answerTo number: Int) -> Bool {
        guard number == question else { return false }
        question &+= 1
        return true
    }

    /// Ends it because its session has ended: nobody has cancelled it, and no event says so.
    func lose(to reason: SessionError) {
        guard !isFinished, !isLost else { return }
        isLost = true
        end(with: reason)
        session.didLose(self)
    }

    /// Notes why it ends; a failure that may yet be retried counts no more.
    private func end(with reason: SessionError) {
        switch phase {
        case .deciding, .backingOff: error = reason
        case .serializing:
            fail(reason)
            hasNoResponse = true
        default: fail(reason)
        }
    }

    /// Notes why it failed, unless an earlier reason is known.
    func fail(_ reason: SessionError) {
        if error == nil { error = reason }
    }

    /// Notes what became of a failure that a retrier has not let pass.
    func failAgain(_ reason: SessionError) {
        error = reason
    }

    /// Forgets what the last attempt brought (RL-13).
    func reset() {
        error = nil
        hasNoResponse = false
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
        isHeld = true
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

    /// Marks the record as complete and tells whoever waits.
    func markFinished() {
        guard !isFinished else { return }
        isFinished = true
        isHeld = false
        advance(to: .finished)
        transfer = nil
        phase = .over
        letGoOfBodies()
        tellHead()
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
