import Testing

@testable import CarpoolCurl

/// The expectations are what the real curl 8.14.1 wrote to standard error.
struct CurlMessageTests {
    private static let message = CurlMessage(isSilent: false, showsErrors: false, columns: 79)

    private static let condition =
        "Illegal date format for -z, --time-cond (and not a filename). Disabling time condition. "
        + "See curl_getdate(3) for valid date syntax."

    static let widths: [(Int, [String])] = [
        (
            30,
            [
                "Warning: Illegal date format ", "Warning: for -z, --time-cond ", "Warning: (and not a ",
                "Warning: filename). Disabling ", "Warning: time condition. See ", "Warning: curl_getdate(3) for ",
                "Warning: valid date syntax.",
            ]
        ),
        (
            60,
            [
                "Warning: Illegal date format for -z, --time-cond (and not a ",
                "Warning: filename). Disabling time condition. See ", "Warning: curl_getdate(3) for valid date syntax.",
            ]
        ),
        (
            80,
            [
                "Warning: Illegal date format for -z, --time-cond (and not a filename). ",
                "Warning: Disabling time condition. See curl_getdate(3) for valid date syntax.",
            ]
        ),
    ]

    @Test(arguments: widths)
    func warningsFitTheWidth(_ columns: Int, _ lines: [String]) {
        let message = CurlMessage(isSilent: false, showsErrors: false, columns: columns)
        #expect(message.warning(CurlMessageTests.condition) == lines.map { $0 + "\n" }.joined())
    }

    @Test func longWordsAreCut() {
        let message = CurlMessage(isSilent: false, showsErrors: false, columns: 40)
        let error = CurlError.unreadable("/" + String(repeating: "x", count: 60))
        let lines = [
            "curl: Failed to open ", "curl: /" + String(repeating: "x", count: 33),
            "curl: " + String(repeating: "x", count: 27), "",
        ]
        #expect(message.text(error) == lines.joined(separator: "\n"))
        #expect(
            CurlMessage(isSilent: false, showsErrors: false, columns: 1).warning("ab") == "Warning: a\nWarning: b\n")
    }

    @Test func silenceHidesAllButErrorsOfUsage() {
        let error = CurlError(exitCode: 6, message: "Could not resolve host: x", warnings: ["w"])
        let usage = CurlError(exitCode: 2, message: "option -F: is badly used here", form: .usage)
        let help =
            "curl: option -F: is badly used here\n"
            + "curl: try 'curl --help' or 'curl --manual' for more information\n"
        #expect(CurlMessageTests.message.text(error) == "Warning: w\ncurl: (6) Could not resolve host: x\n")
        #expect(CurlMessageTests.message.text(usage) == help)
        let silent = CurlMessage(isSilent: true, showsErrors: false, columns: 79)
        #expect(silent.text(error).isEmpty && silent.warning("w").isEmpty && silent.note("n").isEmpty)
        #expect(silent.text(usage) == help)
        let shown = CurlMessage(isSilent: true, showsErrors: true, columns: 79)
        #expect(shown.text(error) == "curl: (6) Could not resolve host: x\n")
    }

    @Test func aCertificateHasAdvice() {
        let error = CurlError(exitCode: 60, message: "SSL certificate problem: self-signed certificate")
        let text = """
            curl: (60) SSL certificate problem: self-signed certificate
            More details here: https://curl.se/docs/sslcerts.html

            curl failed to verify the legitimacy of the server and therefore could not
            establish a secure connection to it. To learn more about this situation and
            how to fix it, please visit the webpage mentioned above.

            """
        #expect(CurlMessageTests.message.text(error) == text)
        #expect(CurlMessageTests.message.text(.http(404)) == "curl: (22) The requested URL returned error: 404\n")
    }

    @Test func theWidthIsThatOfTheEnvironmentOrTheTerminal() {
        #expect(CurlMessage.columns(environment: "40", terminal: 200) == 40)
        #expect(CurlMessage.columns(environment: "20", terminal: 200) == 200)
        #expect(CurlMessage.columns(environment: "10001", terminal: nil) == 79)
        #expect(CurlMessage.columns(environment: "x", terminal: 0) == 79)
        #expect(CurlMessage.columns(environment: nil, terminal: 10_000) == 79)
    }
}
