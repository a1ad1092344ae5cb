import Testing

@testable import CarpoolCache

/// HS-01: the bytes of bodies that are being received.
struct ReceptionMemoryTests {
    @Test func whatWasRemovedMayBeAddedAgain() {
        let memory = ReceptionMemory()
        let most = ReceptionMemory.maximumBytes
        for user: UInt32? in [1, 2, 3, 4, 5, 6, nil] {
            #expect(memory.add(most, of: user))
            #expect(!memory.add(1, of: user))
            memory.remove(most, of: user)
        }
    }

    @Test func allUsersTogetherHaveALimit() {
        let memory = ReceptionMemory()
        let users = UInt32(ReceptionMemory.maximumTotalBytes / ReceptionMemory.maximumBytes)
        for user in 0..<users { #expect(memory.add(ReceptionMemory.maximumBytes, of: user)) }
        #expect(!memory.add(1, of: users))
        memory.remove(1, of: 0)
        #expect(memory.add(1, of: users))
    }
}
