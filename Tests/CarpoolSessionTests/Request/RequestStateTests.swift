@testable import CarpoolSession
import Testing

struct RequestStateTests {
    /// The model's table (§1.2), less suspension.
    private static let allowed: [RequestState: Set<RequestState>] = [
        .initialized: [.resumed, .cancelled, .finished], .resumed: [.cancelled, .finished], .finished: [],
        .cancelled: [],
    ]
    static let states: [RequestState] = [.initialized, .resumed, .finished, .cancelled]

    @Test("§1.2: the table of states", arguments: states, states)
    func theTable(_ state: RequestState, _ next: RequestState) throws {
        #expect(try #require(Self.allowed[state]).contains(next) == state.canBecome(next))
    }
}
