/// When a failed request is sent again, as the options of the command line say.
package struct RetryOptions: Equatable {
    /// `--retry`: how often at most.
    package var count = 0
    /// `--retry-delay` in milliseconds; 0 for delays that grow.
    package var delayMilliseconds = 0
    /// `--retry-max-time` in milliseconds: no retry begins later; 0 for none.
    package var maximumMilliseconds = 0
    /// `--retry-all-errors`
    package var retriesAllErrors = false
    /// `--retry-connrefused`
    package var retriesRefusedConnections = false

    /// The longest wait that a server can ask for by `Retry-After`: 6 hours, as in curl.
    package static let maximumRetryAfterMilliseconds = 21_600_000

    package init() {}
}

/// A wait before a retry.
package struct RetryWait: Equatable {
    /// Why the request is sent again.
    package let reason: String
    package let milliseconds: Int
    /// How many retries were left before this one.
    package let left: Int

    package init(_ reason: String, milliseconds: Int, left: Int) {
        self.reason = reason
        self.milliseconds = milliseconds
        self.left = left
    }

    /// The line that says so, in the words of curl.
    package var text: String {
        "Problem \(reason). Will retry in \(RetryWait.seconds(milliseconds)). "
            + "\(left) retr\(left == 1 ? "y" : "ies") left."
    }

    /// A time in seconds: whole ones, unless it is shorter than ten.
    package static func seconds(_ milliseconds: Int) -> String {
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        let tenths = whole < 10 ? rest / 100 : 0
        return tenths > 0 ? "\(whole).\(tenths) seconds" : "\(whole) second\(whole == 1 ? "" : "s")"
    }
}
