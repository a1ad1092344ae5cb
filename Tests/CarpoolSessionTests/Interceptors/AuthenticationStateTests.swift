import CarpoolHTTP
@testable import CarpoolSession
import CarpoolSystem
import Testing

struct AuthenticationStateTests {
    /// The same numbers every time (SplitMix64).
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    /// Drives a state at random, and checks every action against the invariants.
    private struct Play {
        var state: AuthenticationState
        var generator: Generator
        var now = MonotonicTime(nanoseconds: 0)
        var asked = 0
        var answered: Set<Int> = []
        /// The refresh that has not ended, and those that were abandoned but may still answer.
        var running: Int?
        var late: [Int] = []
        var token = 0
        var faults: [String] = []

        init(seed: UInt64) {
            generator = Generator(state: seed)
            let window = Bool.random(using: &generator) ? RefreshWindow() : nil
            let credential = Bool.random(using: &generator) ? OAuth2Credential(accessToken: "0") : nil
            state = AuthenticationState(credential: credential, window: window)
        }

        mutating func fresh() -> OAuth2Credential {
            token += 1
            return OAuth2Credential(accessToken: "\(token)")
        }

        mutating func step() {
            now = now.advanced(milliseconds: Int.random(in: 0...4_000, using: &generator))
            let requiresRefresh = Int.random(in: 0..<3, using: &generator) == 0
            let hasUsed = Int.random(in: 0..<3, using: &generator) > 0
            switch Int.random(in: 0..<12, using: &generator) {
            case 0...3:
                asked += 1
                take(state.adapt(asked, at: now, requiresRefresh: requiresRefresh))
            case 4...7:
                asked += 1
                take(state.retry(asked, at: now, wasSentWithCurrent: hasUsed))
            case 8: end(.success(fresh()))
            case 9: end(.failure(SessionError("test", "no")), isLate: Bool.random(using: &generator))
            case 10:
                guard let number = late.popLast() else { return }
                take(state.refreshEnded(number, .success(fresh()), at: now))
            default:
                let credential = requiresRefresh ? nil : fresh()
                take(state.set(credential, at: now, requiresRefresh: hasUsed))
                if state.credential != credential { faults.append("a credential that was set is not there") }
            }
        }

        mutating func end(_ result: Result<OAuth2Credential, SessionError>, isLate: Bool = false) {
            guard let number = running else { return }
            running = nil
            if isLate { late.append(number) }
            take(state.refreshEnded(number, result, at: now))
        }

        mutating func take(_ actions: [AuthenticationState.Action]) {
            for action in actions {
                switch action {
                case .apply(let ticket, _), .failAdaptation(let ticket, _), .retry(let ticket),
                    .failRetry(let ticket, _):
                    if !answered.insert(ticket).inserted { faults.append("\(ticket) is answered twice") }
                case .refresh(let number, _, let ticket):
                    if running != nil { faults.append("two refreshes run") }
                    if answered.contains(ticket) { faults.append("no request waits for the refresh") }
                    running = number
                }
            }
            if state.waiting != asked - answered.count { faults.append("a request is lost") }
            if state.waiting > 0, running == nil { faults.append("they wait for nothing") }
        }
    }

    @Test("10,000 random runs: at most one refresh runs, and every request is answered once")
    func plays() {
        for seed in 0..<10_000 {
            var play = Play(seed: UInt64(seed))
            for _ in 0..<40 { play.step() }
            // A refresh that a set credential has overtaken may be followed by one that is still wanted.
            for _ in 0..<2 { play.end(.success(play.fresh())) }
            #expect(play.faults == [], "seed \(seed)")
            #expect(play.answered.count == play.asked, "seed \(seed)")
            if !play.faults.isEmpty { return }
        }
    }

    @Test("The queue is bounded, for adaptations and retries together")
    func bound() {
        var state = AuthenticationState(credential: OAuth2Credential(accessToken: "a"), window: nil)
        let now = MonotonicTime(nanoseconds: 0)
        let half = AuthenticationState.maximumWaiting / 2
        for ticket in 0..<half { _ = state.adapt(ticket, at: now, requiresRefresh: true) }
        for ticket in half..<2 * half { _ = state.retry(ticket, at: now, wasSentWithCurrent: true) }
        #expect(state.waiting == AuthenticationState.maximumWaiting)
        let refused = state.adapt(-1, at: now, requiresRefresh: true)
        let givenUp = state.retry(-2, at: now, wasSentWithCurrent: true)
        guard case .failAdaptation(-1, let error) = refused.first, case .failRetry(-2, let other) = givenUp.first
        else { return #expect(Bool(false), "no room is no answer") }
        #expect([error.name, other.name] == Array(repeating: "authentication_error.too_many_waiting", count: 2))
        let released = state.refreshEnded(1, .success(OAuth2Credential(accessToken: "b")), at: now)
        #expect(released.count == 2 * half)
        #expect(state.waiting == 0)
    }

    @Test("AI-12: a window counts those of the last seconds, edges included, and forgets the others")
    func window() {
        var window = RefreshWindow(intervalMilliseconds: 1_000, maximumAttempts: 2)
        let start = MonotonicTime(nanoseconds: 0)
        func admit(_ milliseconds: Int) -> Bool { window.admit(at: start.advanced(milliseconds: milliseconds)) }
        let admitted = [0, 10, 20, 1_000, 1_001, 1_010, 1_011].map(admit)
        #expect(admitted == [true, true, false, false, true, false, true])
        var none = RefreshWindow(maximumAttempts: 0)
        let isAdmitted = none.admit(at: start)
        #expect(!isAdmitted)
        #expect(RefreshWindow() == RefreshWindow(intervalMilliseconds: 30_000, maximumAttempts: 5))
    }
}
