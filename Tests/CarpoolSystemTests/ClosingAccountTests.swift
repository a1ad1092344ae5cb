import Testing

@testable import CarpoolSystem

@Suite(.timeLimit(.minutes(1))) struct ClosingAccountTests {
    @Test func b1AUserIsFullUntilHalfIsClosed() {
        var account = ClosingAccount()
        let most = ClosingAccount.maximum
        #expect(!account.change(7, by: most - 1) && !account.isFull(7))
        #expect(account.change(7, by: 1) && account.isFull(7) && !account.isFull(8))
        #expect(!account.change(7, by: 253) && account.isFull(7))
        #expect(!account.change(7, by: -253) && account.isFull(7))
        #expect(account.change(7, by: -(most - most / 2)) && !account.isFull(7))
        #expect(!account.change(7, by: -(most / 2)) && !account.isFull(7))
    }
}
