import CarpoolHTTP
@testable import CarpoolSession
import Testing

/// The table of the request's state machine: what each event does in each state (RL-02 to RL-18, TM-01 to TM-06).
struct RequestMachineTests {
    @Test("Each event in each state has the effect in the table; a pair that is not in the table changes nothing")
    func table() throws {
        for (state, path) in Self.states {
            for (name, event) in Self.events {
                var machine = RequestMachine()
                for step in path {
                    let isTaken = machine.handle(step)
                    #expect(isTaken, "\(state): the path to it")
                    _ = machine.actions()
                }
                let before = machine.state
                let changed = machine.handle(event)
                let actions = machine.actions()
                let row = Self.table["\(state): \(name)"]
                guard let row else {
                    #expect(!changed && actions.isEmpty && machine.state == before, "\(state): \(name): \(actions)")
                    continue
                }
                let found = (actions + ["-> \(machine.state.name)"]).joined(separator: " ")
                #expect(changed && found == row, "\(state): \(name): \(found)")
            }
        }
        #expect(Self.table.count == 76)
        let pairs = Set(Self.states.flatMap { state, _ in Self.events.map { "\(state): \($0.0)" } })
        #expect(Set(Self.table.keys).isSubset(of: pairs))
    }

    @Test("A cancellation inside an event replaces the next actions")
    func cancelInside() {
        var machine = RequestMachine()
        machine.handle(.resume)
        let action1 = machine.next()
        #expect(action1?.name == "didResume")
        machine.handle(.cancel(.explicitlyCancelled))
        let actions2 = machine.actions()
        #expect(actions2 == ["didCancel", "settle"])
        #expect(machine.failure?.name == "explicitly_cancelled")
    }

    @Test("A request that is suspended inside the event of its task reports that once, and starts when it is resumed")
    func suspendInside() {
        var machine = RequestMachine()
        for event: RequestMachine.Event in [.resume, .made(hasAdapters: false)] {
            machine.handle(event)
            _ = machine.actions()
        }
        machine.handle(.bodyMade(nil))
        let action3 = machine.next()
        #expect(action3?.name == "didCreateURLRequest")
        let action4 = machine.next()
        #expect(action4?.name == "didCreateTask")
        machine.handle(.suspend)
        let actions5 = machine.actions()
        #expect(actions5 == ["didSuspend", "didSuspendTask"])
        machine.handle(.resume)
        let actions6 = machine.actions()
        #expect(actions6 == ["didResume", "start", "didResumeTask"])
    }

    @Test("The first failure of an attempt wins, and a retry clears it (RL-13, RL-22)")
    func failures() {
        var machine = RequestMachine()
        for event in Self.deciding {
            machine.handle(event)
            _ = machine.actions()
        }
        machine.recordError(.scripted)
        #expect(machine.failure?.name == "request_adaptation_failed")
        machine.handle(.retryAnswer(.retry(milliseconds: 5)))
        let actions7 = machine.actions()
        #expect(actions7 == ["announceResults", "arm(5)"])
        machine.handle(.timer)
        #expect(machine.failure == nil)
        #expect(machine.retryCount == 1)
        let actions8 = machine.actions()
        #expect(actions8 == ["reset", "isRetrying", "make"])
    }

    @Test("An answer counts once, and not after the next wait has begun")
    func questions() {
        var machine = RequestMachine()
        let first = machine.nextGeneration()
        let second = machine.nextGeneration()
        let isCurrent9 = machine.isCurrent(first)
        #expect(!isCurrent9)
        let isCurrent10 = machine.isCurrent(second)
        #expect(isCurrent10)
        let isCurrent11 = machine.isCurrent(second)
        #expect(!isCurrent11)
        let third = machine.nextGeneration()
        machine.handle(.cancel(.explicitlyCancelled))
        let isCurrent12 = machine.isCurrent(third)
        #expect(!isCurrent12)
    }

    @Test("The wait at the head and a suspension pause the task, each until its own end (DR-03, RL-03)")
    func holds() {
        var machine = RequestMachine()
        for event in Self.tasked {
            machine.handle(event)
            _ = machine.actions()
        }
        machine.pauseReasons.insert(.head)
        machine.handle(.suspend)
        #expect(machine.pauseReasons == [.head, .suspended])
        machine.handle(.resume)
        #expect(machine.pauseReasons == .head)
        machine.handle(.resume)
        #expect(machine.pauseReasons == [])
        let changed13 = machine.handle(.resume)
        #expect(!changed13)
    }
}

// MARK: States and events
extension RequestMachineTests {
    typealias Event = RequestMachine.Event

    private static var adapting: [Event] { [.resume] }
    private static var creatingBody: [Event] { adapting + [.made(hasAdapters: false)] }
    fileprivate static var tasked: [Event] { creatingBody + [.bodyMade(nil)] }
    private static var validating: [Event] { tasked + [.ended(nil, nil)] }
    fileprivate static var deciding: [Event] {
        adapting + [.notAdapted(.requestAdaptationFailed(.scripted)), .retriable(true)]
    }
    private static var settling: [Event] { validating + [.accepted(nil), .retriable(false)] }
    private static var serializing: [Event] { settling + [.settled] }

    /// The events that lead to each state.
    private static var states: [(String, [Event])] {
        [
            ("idle", []), ("adapting", adapting), ("creatingBody", creatingBody),
            ("waiting task", [.setUp, .made(hasAdapters: false), .bodyMade(nil)]),
            ("suspended task", tasked + [.suspend]), ("tasked", tasked), ("validating", validating),
            ("deciding", deciding), ("backingOff", deciding + [.retryAnswer(.retry(milliseconds: 0))]),
            ("settling", settling), ("serializing", serializing),
            ("deciding on a value", serializing + [.serialized(.scripted), .retriable(true)]),
            ("over", serializing + [.serialized(nil)]),
        ]
    }

    private static var events: [(String, Event)] {
        [
            ("resume", .resume), ("setUp", .setUp), ("suspend", .suspend), ("cancel", .cancel(.explicitlyCancelled)),
            ("invalidated", .invalidated(.sessionInvalidated)), ("made", .made(hasAdapters: false)),
            ("made for adapters", .made(hasAdapters: true)), ("notMade", .notMade(.scripted)),
            ("refused", .refused(.sessionInvalidated)), ("adapted", .adapted), ("notAdapted", .notAdapted(.scripted)),
            ("bodyMade", .bodyMade(CreatedUpload(.none))), ("no body", .bodyMade(nil)),
            ("bodyNotMade", .bodyNotMade(.scripted)), ("ended", .ended(nil, nil)),
            ("ended with error", .ended(.cancellation, .sessionTaskFailed(.cancellation))),
            ("validated", .validated("status", index: 0, error: nil)), ("accepted", .accepted(nil)),
            ("retriable", .retriable(true)), ("not retriable", .retriable(false)),
            ("retry", .retryAnswer(.retry(milliseconds: 0))), ("pass", .retryAnswer(.pass(to: 1))),
            ("fail", .retryAnswer(.fail(.scripted))), ("exhausted", .retryAnswer(.exhausted)), ("timer", .timer),
            ("settled", .settled), ("serialized", .serialized(nil)), ("not serialized", .serialized(.scripted)),
        ]
    }

    /// For each pair of state and event: the actions in their order, and the state behind them.
    private static let table: [String: String] = {
        var rows: [String: String] = [:]
        for line in tableText.split(separator: "\n") {
            let parts = line.split(separator: "|").map { String($0.drop { $0 == " " }) }
            rows[String(parts[0].reversed().drop { $0 == " " }.reversed())] = parts[1]
        }
        return rows
    }()
}

extension RequestMachine {
    /// Pulls all actions, by name.
    fileprivate mutating func actions() -> [String] {
        var names: [String] = []
        while let action = next() { names.append(action.name) }
        return names
    }
}

extension RequestMachine.Action {
    fileprivate var name: String {
        switch self {
        case .notify(let event): String("\(event)".prefix { $0 != "(" })
        case .validate(let index): "validate(\(index))"
        case .ask(let index): "ask(\(index))"
        case .arm(let milliseconds): "arm(\(milliseconds))"
        default: "\(self)"
        }
    }
}

extension RequestMachine.State {
    fileprivate var name: String {
        switch self {
        case .tasked(let isStarted): isStarted ? "tasked" : "tasked, not started"
        case .deciding(let isSerialized): isSerialized ? "deciding on a value" : "deciding"
        default: "\(self)"
        }
    }
}

/// The first column is a state and an event, the second the actions in their order and the state behind them.
private let tableText = """
    idle: resume | didResume make -> adapting
    idle: setUp | make -> adapting
    idle: suspend | didSuspend -> idle
    idle: cancel | didCancel settle -> settling
    idle: invalidated | settle -> settling
    adapting: suspend | didSuspend -> adapting
    adapting: cancel | didCancel settle -> settling
    adapting: invalidated | settle -> settling
    adapting: made | didCreateInitialURLRequest createBody -> creatingBody
    adapting: made for adapters | didCreateInitialURLRequest adapt -> adapting
    adapting: notMade | didFailToCreateURLRequest decide -> adapting
    adapting: refused | settle -> settling
    adapting: adapted | didAdaptInitialURLRequest createBody -> creatingBody
    adapting: notAdapted | didFailToAdaptURLRequest decide -> adapting
    adapting: retriable | ask(0) -> deciding
    adapting: not retriable | settle -> settling
    creatingBody: suspend | didSuspend -> creatingBody
    creatingBody: cancel | didCancel settle -> settling
    creatingBody: invalidated | settle -> settling
    creatingBody: bodyMade | didCreateUploadable didCreateURLRequest didCreateTask start didResumeTask -> tasked
    creatingBody: no body | didCreateURLRequest didCreateTask start didResumeTask -> tasked
    creatingBody: bodyNotMade | didFailToCreateUploadable decide -> creatingBody
    creatingBody: retriable | ask(0) -> deciding
    creatingBody: not retriable | settle -> settling
    waiting task: resume | didResume start didResumeTask -> tasked
    waiting task: suspend | didSuspend didSuspendTask -> tasked, not started
    waiting task: cancel | didCancel didCancelTask taskDidComplete endTask validate(0) -> validating
    waiting task: invalidated | taskDidComplete endTask settle -> settling
    waiting task: ended | taskDidComplete endTask validate(0) -> validating
    waiting task: ended with error | taskDidComplete endTask validate(0) -> validating
    suspended task: resume | didResume proceed didResumeTask -> tasked
    suspended task: cancel | didCancel didCancelTask cancelTransfer -> tasked
    suspended task: invalidated | cancelTransfer -> tasked
    suspended task: ended | taskDidComplete endTask validate(0) -> validating
    suspended task: ended with error | taskDidComplete endTask validate(0) -> validating
    tasked: suspend | didSuspend pause didSuspendTask -> tasked
    tasked: cancel | didCancel didCancelTask cancelTransfer -> tasked
    tasked: invalidated | cancelTransfer -> tasked
    tasked: ended | taskDidComplete endTask validate(0) -> validating
    tasked: ended with error | taskDidComplete endTask validate(0) -> validating
    validating: suspend | didSuspend -> validating
    validating: cancel | didCancel didCompleteTask settle -> settling
    validating: invalidated | settle -> settling
    validating: validated | didValidate validate(1) -> validating
    validating: accepted | didCompleteTask decide -> validating
    validating: retriable | ask(0) -> deciding
    validating: not retriable | settle -> settling
    deciding: suspend | didSuspend -> deciding
    deciding: cancel | didCancel settle -> settling
    deciding: invalidated | settle -> settling
    deciding: retry | announceResults arm(0) -> backingOff
    deciding: pass | ask(1) -> deciding
    deciding: fail | settle -> settling
    deciding: exhausted | settle -> settling
    backingOff: suspend | didSuspend -> backingOff
    backingOff: cancel | didCancel settle -> settling
    backingOff: invalidated | settle -> settling
    backingOff: timer | reset isRetrying make -> adapting
    settling: suspend | didSuspend -> settling
    settling: cancel | didCancel -> settling
    settling: invalidated | -> settling
    settling: settled | didFinish serialize -> serializing
    serializing: suspend | didSuspend -> serializing
    serializing: cancel | didCancel abortSerialization -> serializing
    serializing: invalidated | abortSerialization -> serializing
    serializing: retriable | ask(0) -> deciding on a value
    serializing: not retriable | announceResults complete -> over
    serializing: serialized | announceResults complete -> over
    serializing: not serialized | decide -> serializing
    deciding on a value: suspend | didSuspend -> deciding on a value
    deciding on a value: cancel | didCancel announceResults complete -> over
    deciding on a value: invalidated | announceResults complete -> over
    deciding on a value: retry | announceResults arm(0) -> backingOff
    deciding on a value: pass | ask(1) -> deciding on a value
    deciding on a value: fail | announceResults complete -> over
    deciding on a value: exhausted | announceResults complete -> over
    """
