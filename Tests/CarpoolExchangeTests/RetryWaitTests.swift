import Testing

@testable import CarpoolExchange

struct RetryWaitTests {
    @Test(
        "Times in seconds",
        arguments: [
            (0, "0 seconds"), (20, "0 seconds"), (500, "0.5 seconds"), (1_000, "1 second"), (1_500, "1.5 seconds"),
            (20_400, "20 seconds"), (21_600_000, "21600 seconds"),
        ])
    func times(_ milliseconds: Int, _ text: String) {
        #expect(RetryWait.seconds(milliseconds) == text)
    }
}
