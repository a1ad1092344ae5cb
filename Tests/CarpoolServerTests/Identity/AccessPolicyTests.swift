import CarpoolRPC
@testable import CarpoolServer
import Testing

struct AccessPolicyTests {
    @Test(
        "The owner and root may do everything, even if the list has less; others have the role in the list",
        arguments: [(1_000, .admin), (0, .admin), (7, .observe), (8, .submit), (9, nil)] as [(UInt32, Role?)])
    func role(_ uid: UInt32, _ role: Role?) {
        let policy = AccessPolicy(owner: 1_000, roles: [0: .observe, 1_000: .observe, 7: .observe, 8: .submit])
        #expect(policy.role(of: uid) == role)
    }

    @Test func eachRoleMayDoWhatThoseBeforeItMay() {
        #expect(Role.observe < .submit)
        #expect(Role.submit < .admin)
    }
}
