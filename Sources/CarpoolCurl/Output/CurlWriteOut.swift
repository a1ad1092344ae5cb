/// The text of `-w`, which is printed after a transfer.
package struct CurlWriteOut {
    package enum Destination: Equatable {
        case standardOutput
        case standardError
        /// `%output{file}`, or `%output{>>file}` which appends.
        case file(String, appends: Bool)
    }

    /// Bytes for a destination. A piece for a file is there even without bytes, because curl makes the file; if it
    /// cannot be opened, its bytes go where those of the piece before it went.
    package struct Piece: Equatable {
        package let destination: Destination
        package var bytes: [UInt8]
    }

    /// The text after `-w`, or the content of its file without line ends (``CurlBody/data(_:standardInput:)``).
    let text: [UInt8]
    /// The version for `%{json}`.
    let version: String
    /// The name of the program in messages.
    let program: String
    /// Whether unprintable characters of values, which servers choose, are escaped for a destination.
    let escapesValues: (Destination) -> Bool

    package init(
        _ text: [UInt8], version: String = "libcurl/8.14.1", program: String = "curl",
        escapesValues: @escaping (Destination) -> Bool = { _ in false }
    ) {
        self.text = text
        self.version = version
        self.program = program
        self.escapesValues = escapesValues
    }

    private static let certificateVariables = ["%{certs}", "%{num_certs}", "%{json}"]

    /// Whether a variable is printed that tells of certificates.
    package var namesCertificates: Bool {
        CurlWriteOut.certificateVariables.contains { text.firstRange(of: Array($0.utf8)) != nil }
    }

    /// What is printed for a transfer.
    package func pieces(_ report: CurlReport) -> [Piece] {
        var printer = CurlWriteOutPrinter(self, CurlWriteOutContext(report))
        return printer.print()
    }
}
