internal import CarpoolHTTP

/// Decides what happens to a request next. A value: it knows no session, no monitor and no transport. ``handle(_:)``
/// takes what has happened, ``next()`` returns what to do, one action at a time, so that a monitor that cancels the
/// request inside an event changes what comes next.
struct RequestMachine {
    /// Where the pipeline of the request is (RL-08). ``lifecycle`` is what the request's owner sees.
    enum State: Equatable {
        /// Nothing has begun.
        case idle
        /// The request to send is made from the parameters, and changed by the adapters.
        case adapting
        /// The body of an upload is created.
        case creatingBody
        /// The task was created. Once started, the transport runs it.
        case tasked(isStarted: Bool)
        /// The response has arrived; the validators judge it.
        case validating
        /// The request failed; the retriers decide. They decide once more if a serializer fails.
        case deciding(isSerialized: Bool)
        /// The request waits to be sent again.
        case backingOff
        /// The files of the request are written and closed.
        case settling
        /// The serializers work on the body.
        case serializing
        /// The last results are announced.
        case completing
        /// The record is complete.
        case over
    }

    /// What pauses a task.
    struct PauseReasons: OptionSet {
        let rawValue: UInt8
        /// A call suspended the request.
        static let suspended = PauseReasons(rawValue: 1)
        /// The body waits until the caller has seen the head (DR-03).
        static let head = PauseReasons(rawValue: 2)
        /// A redirect decider was asked, or a decider about a challenge.
        static let redirect = PauseReasons(rawValue: 4)
        /// The host cannot be reached.
        static let path = PauseReasons(rawValue: 8)
    }

    /// Where the pipeline is.
    var state = State.idle
    /// The state that the owner of the request sees.
    var lifecycle = RequestState.initialized
    /// What pauses the task. A full receiver pauses it too, and is asked each time.
    var pauseReasons: PauseReasons = []
    /// Why the request failed; the first reason of an attempt wins (RL-22).
    var failure: SessionError?
    /// Whether there is nothing to serialize because of ``failure``.
    var hasNoResponse = false
    /// Whether the session ended: then no retrier decides, and only the end is announced (session model 2.14).
    var isAborted = false
    /// How often the request was sent again.
    var retryCount = 0
    /// The requests that servers have caused since the call, or since the last retry that was not theirs.
    var hops = HopBudget()
    /// The one time limit of the request.
    var deadline = DeadlineBook()

    /// The error of the task, for the event behind the validators.
    var taskError: TransportError?
    /// Grows with each question to an interceptor, and with each step: an answer of an earlier generation is late.
    var generation = 0
    /// Events of calls, and what follows from them at once. They come first; there are hardly ever any.
    var urgentActions: [Action] = []
    /// The event to send before ``nextStep``.
    var pendingEvent: SessionEvent?
    /// The step after ``pendingEvent``.
    var nextStep = Step.wait

    /// What the pipeline does next by itself.
    enum Step: Equatable {
        case wait
        case make, adapt, createBody, createRequest, createTask, beginTask, proceed
        case endTask
        case validate(Int)
        case decide
        case ask(Int)
        case backOff(milliseconds: Int), arm(milliseconds: Int), reset
        case finish, serialize, complete, close
    }

    /// Whether nothing is left to do for the request except to finish it.
    var isOver: Bool {
        switch state {
        case .settling, .serializing, .completing, .over: true
        default: false
        }
    }

    /// Whether no transfer runs that keeps the deadline, although the request has begun.
    var isBetweenTransfers: Bool {
        switch state {
        case .idle, .tasked(isStarted: true), .over: false
        default: true
        }
    }

    /// Whether the end of the task is being announced.
    var isEndingTask: Bool { nextStep == .endTask }
}

// MARK: Actions
extension RequestMachine {
    /// What the session does for the request.
    enum Action {
        /// Send the event to the monitors.
        case notify(SessionEvent)
        /// Make the request to send from the parameters; answer with `made`, `notMade` or `refused`.
        case make
        /// Have the adapters change it; answer with `adapted` or `notAdapted`.
        case adapt
        /// Create the body; answer with `bodyMade` or `bodyNotMade`.
        case createBody
        /// Hand the task to the transport; `ended` follows.
        case start
        /// Read on, unless something else pauses the task.
        case proceed
        /// Pause the transfer.
        case pause
        /// Cancel the transfer; `ended` follows.
        case cancelTransfer
        /// Hand the end of the task to the receiver.
        case endTask
        /// Ask the validator with this index, or, behind the last one, the receiver; answer with `validated` or
        /// `accepted`.
        case validate(Int)
        /// Record the failure of the attempt; answer with `retriable`.
        case decide
        /// Ask the retrier with this index; answer with `retryAnswer`.
        case ask(Int)
        /// Announce the results of serializers that waited for the retriers.
        case announceResults
        /// Start the timer of the retry; `timer` follows.
        case arm(milliseconds: Int)
        /// Drop what the last attempt received (RL-13).
        case reset
        /// Write and close the files; answer with `settled`.
        case settle
        /// Run the serializers; answer with `serialized`.
        case serialize
        /// Abort the serializer that has not answered.
        case abortSerialization
        /// Complete the record.
        case complete
    }

    /// Returns what to do now, or `nil` until the next event.
    mutating func next() -> Action? {
        if !urgentActions.isEmpty { return urgentActions.removeFirst() }
        if let event = pendingEvent {
            pendingEvent = nil
            return .notify(event)
        }
        let step = nextStep
        nextStep = .wait
        return switch step {
        case .wait: nil
        case .make: enter(.adapting, .make)
        case .adapt: .adapt
        case .createBody: enter(.creatingBody, .createBody)
        case .createRequest: then(.createTask, .notify(.didCreateURLRequest))
        case .createTask: enter(.tasked(isStarted: false), then(.beginTask, .notify(.didCreateTask)))
        case .beginTask: beginTask()
        case .proceed: then(.wait, .proceed, before: .didResumeTask)
        case .endTask: enter(isAborted ? .settling : .validating, then(isAborted ? .finish : .validate(0), .endTask))
        case .validate(let index): .validate(index)
        case .decide: .decide
        case .ask(let index): .ask(index)
        case .backOff(let delay): then(.arm(milliseconds: delay), .announceResults)
        case .arm(let delay): enter(.backingOff, .arm(milliseconds: delay))
        case .reset: then(.make, .reset, before: .isRetrying)
        case .finish: .settle
        case .serialize: enter(.serializing, .serialize)
        case .complete: then(.close, .announceResults)
        case .close: close()
        }
    }

    /// Changes the state, and returns the action.
    private mutating func enter(_ state: State, _ action: Action) -> Action {
        self.state = state
        return action
    }

    /// Sets the step that follows the action, and the event between the two; returns the action.
    private mutating func then(_ next: Step, _ action: Action, before event: SessionEvent? = nil) -> Action {
        pendingEvent = event
        nextStep = next
        return action
    }

    /// The life of the request ends, also as its owner sees it.
    private mutating func close() -> Action {
        pauseReasons.remove(.head)
        if lifecycle.canBecome(.finished) { lifecycle = .finished }
        return enter(.over, .complete)
    }

    /// Starts the task if the request is resumed.
    private mutating func beginTask() -> Action? {
        switch lifecycle {
        case .resumed: enter(.tasked(isStarted: true), then(.wait, .start, before: .didResumeTask))
        case .suspended: .notify(.didSuspendTask)
        case .initialized, .cancelled, .finished: nil
        }
    }
}

// MARK: Generations and failures
extension RequestMachine {
    /// Returns the generation of a question that an interceptor or a decider answers. Answers to earlier questions are
    /// late from now on.
    mutating func nextGeneration() -> Int {
        generation += 1
        return generation
    }

    /// Returns whether an answer is to the current question, and begins a new generation if so: each question has one
    /// answer.
    mutating func isCurrent(_ answered: Int) -> Bool {
        guard answered == generation else { return false }
        generation += 1
        return true
    }

    /// Records why the request failed, unless an earlier reason is known.
    mutating func recordError(_ reason: SessionError) {
        if failure == nil { failure = reason }
    }

    /// Records why the request ends. A failure that a retrier may still recover from no longer counts.
    mutating func recordEnd(_ reason: SessionError) {
        switch state {
        case .deciding, .backingOff: failure = reason
        case .settling, .serializing, .completing:
            recordError(reason)
            hasNoResponse = true
        default: recordError(reason)
        }
    }

    /// Continues with another step, after the event. Answers to earlier questions are late from now on.
    mutating func advance(to next: Step, announcing event: SessionEvent? = nil) {
        generation += 1
        pendingEvent = event
        nextStep = next
    }

    /// Finishes the request: the files are written, then the serializers run.
    mutating func finish(announcing event: SessionEvent? = nil) {
        state = .settling
        advance(to: .finish, announcing: event)
    }

    /// Completes the record, with the results of the serializers as they are.
    mutating func complete() {
        state = .completing
        advance(to: .complete)
    }
}
