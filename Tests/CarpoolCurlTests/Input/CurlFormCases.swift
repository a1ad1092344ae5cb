/// Forms, and the bodies that the real curl 8.14.1 sent for them. `{d}` is the folder of the files, and the boundaries
/// are B1, B2 and so on in the order in which they appear.
enum CurlFormCases {
    struct Case {
        let texts: [String]
        var literal = false
        var escapes = false
        /// The length of the body; `nil` if curl sent chunks.
        let length: Int64?
        /// The body, each byte a scalar.
        let body: String

        init(_ texts: [String], literal: Bool = false, escapes: Bool = false, length: Int64?, _ body: String) {
            self.texts = texts
            self.literal = literal
            self.escapes = escapes
            self.length = length
            self.body = body
        }
    }

    static let all: [Case] = [
        Case(["a=b"], length: 149, "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--B1--\r\n"),
        Case(["a="], length: 148, "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n--B1--\r\n"),
        Case(["=b"], length: 139, "--B1\r\nContent-Disposition: form-data\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b", "c=d"], length: 246,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--B1\r\nContent-Disposition: form-data; name=\"c\"\r\n\r\nd\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt"], length: 197,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/b.html"], length: 196,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"b.html\"\r\nContent-Type: text/html\r\n\r\n<p>\n\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/c.bin"], length: 211,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"c.bin\"\r\nContent-Type: application/octet-stream\r\n\r\nbin\u{0}\u{FF}\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt;type=text/x"], length: 193,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.txt\"\r\nContent-Type: text/x\r\n\r\nhello\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt;filename=n.png"], length: 196,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"n.png\"\r\nContent-Type: image/png\r\n\r\nhello\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt;filename=\"q;\\\"\\\\.x\";type=a/b"], length: 193,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"q;%22\\.x\"\r\nContent-Type: a/b\r\n\r\nhello\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt;filename=\"q;\\\"\\\\.x\";type=a/b"], escapes: true, length: 193,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"q;\\\"\\\\.x\"\r\nContent-Type: a/b\r\n\r\nhello\r\n--B1--\r\n"
        ),
        Case(
            ["a=@\"{d}/q\\\"u o.GIF\""], length: 198,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"q%22u o.GIF\"\r\nContent-Type: image/gif\r\n\r\nx\r\n--B1--\r\n"
        ),
        Case(
            ["a=@\"{d}/q\\\"u o.GIF\""], escapes: true, length: 197,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"q\\\"u o.GIF\"\r\nContent-Type: image/gif\r\n\r\nx\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt,{d}/b.html"], length: 559,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: multipart/mixed; boundary=B2\r\n\r\n--B2\r\nContent-Disposition: attachment; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--B2\r\nContent-Disposition: attachment; filename=\"b.html\"\r\nContent-Type: text/html\r\n\r\n<p>\n\r\n--B2--\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt;type=x/y,{d}/b.html;filename=z"], length: 547,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: multipart/mixed; boundary=B2\r\n\r\n--B2\r\nContent-Disposition: attachment; filename=\"a.txt\"\r\nContent-Type: x/y\r\n\r\nhello\r\n--B2\r\nContent-Disposition: attachment; filename=\"z\"\r\nContent-Type: text/html\r\n\r\n<p>\n\r\n--B2--\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt , {d}/b.html"], length: 559,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: multipart/mixed; boundary=B2\r\n\r\n--B2\r\nContent-Disposition: attachment; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--B2\r\nContent-Disposition: attachment; filename=\"b.html\"\r\nContent-Type: text/html\r\n\r\n<p>\n\r\n--B2--\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["a=@\"{d}/a.txt\",\"{d}/b.html\";type=q/r"], length: 553,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: multipart/mixed; boundary=B2\r\n\r\n--B2\r\nContent-Disposition: attachment; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--B2\r\nContent-Disposition: attachment; filename=\"b.html\"\r\nContent-Type: q/r\r\n\r\n<p>\n\r\n--B2--\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["a=<{d}/a.txt"], length: 153,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nhello\r\n--B1--\r\n"),
        Case(
            ["a=<{d}/b.html"], length: 177,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: text/html\r\n\r\n<p>\n\r\n--B1--\r\n"),
        Case(
            ["a=<{d}/c.bin"], length: 153,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nbin\u{0}\u{FF}\r\n--B1--\r\n"),
        Case(
            ["a=<{d}/a.txt;type=text/plain"], length: 179,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--B1--\r\n"),
        Case(
            ["a=<{d}/a.txt;filename=no"], length: 153,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nhello\r\n--B1--\r\n"),
        Case(
            ["a=b;type=text/html"], length: 174,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: text/html\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;type=text/plain"], length: 175,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: text/plain\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;type=text/html; charset=utf-8 ;filename=f"], length: 203,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\nContent-Type: text/html; charset=utf-8\r\n\r\nb\r\n--B1--\r\n"
        ),
        Case(
            ["a=b;filename=f.jpg"], length: 193,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f.jpg\"\r\nContent-Type: image/jpeg\r\n\r\nb\r\n--B1--\r\n"
        ),
        Case(
            ["a=b;filename=f.txt"], length: 193,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f.txt\"\r\nContent-Type: text/plain\r\n\r\nb\r\n--B1--\r\n"
        ),
        Case(
            ["a=b;filename=f"], length: 163,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=\"b;c\";type=x/y"], length: 170,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: x/y\r\n\r\nb;c\r\n--B1--\r\n"),
        Case(
            ["a=\"b\\\"c\\\\d\\e\""], length: 155,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\"c\\d\\e\r\n--B1--\r\n"),
        Case(
            ["a=\"b\" junk;type=x/y"], length: 168,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: x/y\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=\"unclosed;type=x/y"], length: 176,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: x/y\r\n\r\n\"unclosed\r\n--B1--\r\n"),
        Case(["a= b "], length: 149, "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--B1--\r\n"),
        Case(["a= \"b\" "], length: 149, "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b ; type = x/y"], length: 149,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;type= x/y"], length: 168,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: x/y\r\n\r\nb\r\n--B1--\r\n"),
        Case(["a=b;foo=bar"], length: 149, "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--B1--\r\n"),
        Case(["a=b;"], length: 149, "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;;type=x/y"], length: 168,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: x/y\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;type=x/y z"], length: 168,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: x/y\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;type=x/y,z"], length: 168,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: x/y\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;headers=X-A: 1"], length: 157,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nX-A: 1\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;headers=\"X-A: 1; 2\";headers=X-B: 3"], length: 168,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nX-A: 1; 2\r\nX-B: 3\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;headers=@{d}/hd"], length: 186,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: a/b\r\nX-H: 1\r\nX-I: 2 3\r\n\r\nb\r\n--B1--\r\n"
        ),
        Case(
            ["a=b;headers=<{d}/hd"], length: 186,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: a/b\r\nX-H: 1\r\nX-I: 2 3\r\n\r\nb\r\n--B1--\r\n"
        ),
        Case(
            ["a=b;headers=\"Content-Type: t/u\""], length: 168,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: t/u\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;headers=\"Content-Disposition: z\""], length: 131,
            "--B1\r\nContent-Disposition: z\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;headers=\"content-transfer-encoding: z\";encoder=base64"], length: 182,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\ncontent-transfer-encoding: z\r\n\r\nYg==\r\n--B1--\r\n"
        ),
        Case(
            ["a=b;headers=@{d}/nofile"], length: 149,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=@{d}/a.txt;headers=X: 1,{d}/b.html;headers=Y: 2"], length: 571,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: multipart/mixed; boundary=B2\r\n\r\n--B2\r\nContent-Disposition: attachment; filename=\"a.txt\"\r\nContent-Type: text/plain\r\nX: 1\r\n\r\nhello\r\n--B2\r\nContent-Disposition: attachment; filename=\"b.html\"\r\nContent-Type: text/html\r\nY: 2\r\n\r\n<p>\n\r\n--B2--\r\n\r\n--B1--\r\n"
        ),
    ]
}
