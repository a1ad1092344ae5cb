extension CurlFormCases {
    static let more: [Case] = [
        Case(
            ["a=hello world!;encoder=base64"], length: 199,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8gd29ybGQh\r\n--B1--\r\n"
        ),
        Case(
            ["a=;encoder=base64"], length: 183,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Transfer-Encoding: base64\r\n\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/long;encoder=base64"], length: 982,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"long\"\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4\r\nOTo7PD0+P0BBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5fYGFiY2RlZmdoaWprbG1ub3Bx\r\ncnN0dXZ3eHl6e3x9fn+AgYKDhIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2en6ChoqOkpaanqKmq\r\nq6ytrq+wsbKztLW2t7i5uru8vb6/wMHCw8TFxsfIycrLzM3Oz9DR0tPU1dbX2Nna29zd3t/g4eLj\r\n5OXm5+jp6uvs7e7v8PHy8/T19vf4+fr7/P3+/2FhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh\r\nYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh\r\nYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh\r\nYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh\r\nIA0KYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJi\r\nYmJiYmJiYmJiYmJiYmJiYmJiYmJiIA0KZW5kIAk=\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/long;encoder=quoted-printable"], length: nil,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"long\"\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=00=01=02=03=04=05=06=07=08\t=0A=0B=0C=0D=0E=0F=10=11=12=13=14=15=16=17=18=\r\n=19=1A=1B=1C=1D=1E=1F !\"#$%&'()*+,-./0123456789:;<=3D>?@ABCDEFGHIJKLMNOPQRS=\r\nTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~=7F=80=81=82=83=84=85=86=87=88=\r\n=89=8A=8B=8C=8D=8E=8F=90=91=92=93=94=95=96=97=98=99=9A=9B=9C=9D=9E=9F=A0=A1=\r\n=A2=A3=A4=A5=A6=A7=A8=A9=AA=AB=AC=AD=AE=AF=B0=B1=B2=B3=B4=B5=B6=B7=B8=B9=BA=\r\n=BB=BC=BD=BE=BF=C0=C1=C2=C3=C4=C5=C6=C7=C8=C9=CA=CB=CC=CD=CE=CF=D0=D1=D2=D3=\r\n=D4=D5=D6=D7=D8=D9=DA=DB=DC=DD=DE=DF=E0=E1=E2=E3=E4=E5=E6=E7=E8=E9=EA=EB=EC=\r\n=ED=EE=EF=F0=F1=F2=F3=F4=F5=F6=F7=F8=F9=FA=FB=FC=FD=FE=FFaaaaaaaaaaaaaaaaaa=\r\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=\r\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=\r\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=20\r\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb=\r\n=20\r\nend =09\r\n--B1--\r\n"
        ),
        Case(
            ["a=x = y;encoder=quoted-printable"], length: nil,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nx =3D y\r\n--B1--\r\n"
        ),
        Case(
            ["a=;encoder=quoted-printable"], length: 193,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt;encoder=8bit"], length: 230,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: 8bit\r\n\r\nhello\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/c.bin;encoder=binary"], length: 246,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"c.bin\"\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: binary\r\n\r\nbin\u{0}\u{FF}\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt;encoder=7bit"], length: 230,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: 7bit\r\n\r\nhello\r\n--B1--\r\n"
        ),
        Case(
            ["a=b;encoder=BASE64"], length: 187,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Transfer-Encoding: base64\r\n\r\nYg==\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/empty"], length: 206,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"empty\"\r\nContent-Type: application/octet-stream\r\n\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/empty;encoder=base64"], length: 241,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"empty\"\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["=(;type=multipart/mixed", "=b;type=text/plain", "=@{d}/a.txt", "=)", "x=y"], length: 592,
            "--B1\r\nContent-Disposition: form-data\r\nContent-Type: multipart/mixed; boundary=B2\r\n\r\n--B2\r\nContent-Type: text/plain\r\n\r\nb\r\n--B2\r\nContent-Disposition: attachment; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--B2--\r\n\r\n--B1\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\ny\r\n--B1--\r\n"
        ),
        Case(
            ["m=(", "a=b", "=)"], length: 386,
            "--B1\r\nContent-Disposition: form-data; name=\"m\"\r\nContent-Type: multipart/mixed; boundary=B2\r\n\r\n--B2\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\nb\r\n--B2--\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["m=(;type=multipart/related;headers=X: 1", "a=b", "n=(", "c=d", "=)", "e=f", "=)", "z=1"], length: 924,
            "--B1\r\nContent-Disposition: form-data; name=\"m\"\r\nContent-Type: multipart/related; boundary=B2\r\nX: 1\r\n\r\n--B2\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\nb\r\n--B2\r\nContent-Disposition: attachment; name=\"n\"\r\nContent-Type: multipart/mixed; boundary=B3\r\n\r\n--B3\r\nContent-Disposition: attachment; name=\"c\"\r\n\r\nd\r\n--B3--\r\n\r\n--B2\r\nContent-Disposition: attachment; name=\"e\"\r\n\r\nf\r\n--B2--\r\n\r\n--B1\r\nContent-Disposition: form-data; name=\"z\"\r\n\r\n1\r\n--B1--\r\n"
        ),
        Case(
            ["=(", "=)"], length: 278,
            "--B1\r\nContent-Disposition: form-data\r\nContent-Type: multipart/mixed; boundary=B2\r\n\r\n--B2--\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["=(", "a=b"], length: 376,
            "--B1\r\nContent-Disposition: form-data\r\nContent-Type: multipart/mixed; boundary=B2\r\n\r\n--B2\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\nb\r\n--B2--\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["a=(b"], length: 288,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: multipart/mixed; boundary=B2\r\n\r\n--B2--\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["m=(;type=multipart/form-data", "a=b", "=)"], length: 389,
            "--B1\r\nContent-Disposition: form-data; name=\"m\"\r\nContent-Type: multipart/form-data; boundary=B2\r\n\r\n--B2\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--B2--\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["m=(;filename=x;encoder=base64", "a=b", "=)"], length: 386,
            "--B1\r\nContent-Disposition: form-data; name=\"m\"\r\nContent-Type: multipart/mixed; boundary=B2\r\n\r\n--B2\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\nb\r\n--B2--\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["a\"b\\c=d"], length: 155,
            "--B1\r\nContent-Disposition: form-data; name=\"a%22b\\c\"\r\n\r\nd\r\n--B1--\r\n"),
        Case(
            ["a\"b\\c=d"], escapes: true, length: 155,
            "--B1\r\nContent-Disposition: form-data; name=\"a\\\"b\\\\c\"\r\n\r\nd\r\n--B1--\r\n"),
        Case(["a\nb=c"], length: 153, "--B1\r\nContent-Disposition: form-data; name=\"a%0Ab\"\r\n\r\nc\r\n--B1--\r\n"),
        Case(
            ["a\nb=c"], escapes: true, length: 151,
            "--B1\r\nContent-Disposition: form-data; name=\"a\nb\"\r\n\r\nc\r\n--B1--\r\n"),
        Case(
            ["é=ü"], length: 151,
            "--B1\r\nContent-Disposition: form-data; name=\"\u{C3}\u{A9}\"\r\n\r\n\u{C3}\u{BC}\r\n--B1--\r\n"),
        Case(
            ["a=@{d}/a.txt;filename=\"é\nx\""], length: 198,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"\u{C3}\u{A9}%0Ax\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt;filename=\"é\nx\""], escapes: true, length: 196,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"\u{C3}\u{A9}\nx\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--B1--\r\n"
        ),
        Case(["a=b=c"], length: 151, "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb=c\r\n--B1--\r\n"),
        Case(["a==b"], length: 150, "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n=b\r\n--B1--\r\n"),
        Case(
            ["a=@-"], length: 169,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"-\"\r\n\r\nstdin\r\n\r\n--B1--\r\n"),
        Case(
            ["a=<-"], length: 155, "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nstdin\r\n\r\n--B1--\r\n"),
        Case(
            ["a=@-;filename=s.txt"], length: 199,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"s.txt\"\r\nContent-Type: text/plain\r\n\r\nstdin\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["a=@-", "b=@-"], length: 279,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"-\"\r\n\r\nstdin\r\n\r\n--B1\r\nContent-Disposition: form-data; name=\"b\"; filename=\"-\"\r\n\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["a=<-;encoder=base64"], length: 195,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Transfer-Encoding: base64\r\n\r\nc3RkaW4NCg==\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/./a.txt"], length: 197,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/../form/a.txt"], length: 197,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt;type=text/plain;charset=x,{d}/b.html"], length: 569,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: multipart/mixed; boundary=B2\r\n\r\n--B2\r\nContent-Disposition: attachment; filename=\"a.txt\"\r\nContent-Type: text/plain;charset=x\r\n\r\nhello\r\n--B2\r\nContent-Disposition: attachment; filename=\"b.html\"\r\nContent-Type: text/html\r\n\r\n<p>\n\r\n--B2--\r\n\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt;type=image/png;"], length: 197,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.txt\"\r\nContent-Type: image/png;\r\n\r\nhello\r\n--B1--\r\n"
        ),
        Case(
            ["a=@{d}/a.txt;"], length: 197,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--B1--\r\n"
        ),
        Case(
            ["a=b;type="], length: 165,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: \r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;filename="], length: 162,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"\"\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;type=a/b;type=c/d"], length: 177,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: a/b;type=c/d\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;filename=x;filename=y"], length: 163,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"; filename=\"y\"\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=b;TYPE=x/y"], length: 168,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: x/y\r\n\r\nb\r\n--B1--\r\n"),
        Case(
            ["a=@x;type=y"], literal: true, length: 157,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n@x;type=y\r\n--B1--\r\n"),
        Case(
            ["a=<x"], literal: true, length: 150,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n<x\r\n--B1--\r\n"),
        Case(
            ["a=(b"], literal: true, length: 150,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n(b\r\n--B1--\r\n"),
        Case(["=)"], literal: true, length: 139, "--B1\r\nContent-Disposition: form-data\r\n\r\n)\r\n--B1--\r\n"),
        Case(
            ["a=\"b\""], literal: true, length: 151,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\"b\"\r\n--B1--\r\n"),
        Case(
            ["a=b;type=x"], literal: true, length: 156,
            "--B1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb;type=x\r\n--B1--\r\n"),
        Case(
            [" a=b"], literal: true, length: 150,
            "--B1\r\nContent-Disposition: form-data; name=\" a\"\r\n\r\nb\r\n--B1--\r\n"),
    ]
}
