"""The encoding of bytes that do not state it, by the letters they make."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.corpora.decode import decode

WESTERN = [
    "Zahnarzt: Bürogebäude, 3. Stock. Versichertenkarte nicht vergessen!\n",
    "Name;Ort;Betrag\nMüller;Köln;12,50\nSchröder;Düren;7,00\n",
    "Größe",
    "Für Oma: Äpfel, Möhren, Brötchen, Käse, süße Sahne",
    "WLAN-Schlüssel: Gänseblümchen77",
    "Rechnung über 50 € für Gärtner, Fläche 70 m², Raum 120 m³",
    "Réunion à l'école à 8h, salle été.",
    "L'assemblée s'est réunie à la mairie. Où sont les crédits prévus pour la fête ? Ça a été voté à l'unanimité.",
    "Le cœur de l’année — « déjà vu » — même s’il dit où.",
    "Prix\xa0: 3 €/kg – Noël",
    "«\xa0%s\xa0» : %u\xa0: pas de retour à la ligne",
    "Mañana a las 9 en el café.",
    "¿Qué hora es? El señor Núñez explicó la situación económica del año.",
    "São Paulo não está longe; amanhã às 10.",
    "Situações: põe os limões à mesa. Nº 5, nº 7, 2.ª fase.",
    "Göteborg är Sveriges näst största stad.",
    "Föreningens årsmöte hålls på måndag. Kassören läser upp räkenskaperna.",
    "Møde på torsdag kl. 10. Nøglen ligger hos Sørensen på Åboulevarden, tilsvarer «cs7» og «cs8» og «cs9».",
    "Hyvää päivää, väärä määrä: tämä on lyhyt muistio.",
    "Väärä",
    "La città è più bella perché c'è il sole. Però può piovere.",
    "Reunió a l'Àngels: això és molt més fàcil; gràcies, però no.",
    "Það er fundur á fimmtudaginn klukkan tíu.",
    "Één café in België",
    "He said “no”. It’s 5 o’clock – late… The bill was £12.50, 21 °C ± 2, § 5, © 2024, ½ litre.",
    "Leveys merkkeinä",
]
OTHERS = [
    ("cp1250", "Spotkanie w piątek o 10, klucz u Łukasza."),
    ("iso8859-2", "Spotkanie w piątek o 10, klucz u Łukasza. Może później będzie więcej osób."),
    ("cp1250", "Nazwisko;Miasto\nWójcik;Łódź\nZieliński;Kraków\nDąbrowski;Gdańsk\n"),
    ("cp1250", "są już"),
    ("cp1250", "Schůzka ve čtvrtek v deset hodin. Klíč je u paní Dvořákové."),
    ("iso8859-2", "Schůze se koná příští týden, prosím přineste klíče. Děkuji."),
    ("cp852", "Schůzka ve čtvrtek v deset hodin. Klíč je u paní Dvořákové."),
    ("cp1250", "Schôdza je vo štvrtok o desiatej. Kľúč má pani Kováčová."),
    ("cp1250", "A gyűlés később kezdődik, a kulcs Győrben van az idős hölgynél."),
    ("cp1250", "Sastanak je u četvrtak u deset sati, ključ je kod Đorđa. Može već sutra."),
    ("cp1250", "Şedinţa este joi la ora zece în sala mare şi cheia este la Ioana."),
    ("cp1254", "Toplantı perşembe günü saat onda. Anahtar Ayşe'de."),
    ("cp1254", "Ad;Şehir\nYılmaz;İzmir\nŞahin;Eskişehir\nÖztürk;Muğla\n"),
    ("cp1257", "Susitikimas ketvirtadienį dešimtą valandą, raktas yra pas Rūtą."),
    ("cp850", "Der Schlüssel liegt bei Frau Müller in Köln, über der Tür."),
    ("mac_roman", "Der Schlüssel liegt bei Frau Müller in Köln, über der Tür und heißt größer."),
    ("cp1251", "Встреча в четверг в 10 часов."),
    ("cp1251", "Ключ лежит у Анны."),
    ("koi8-r", "Ключ лежит у Анны."),
    ("koi8-r", "Имя;Город;Сумма\nИванов;Москва;12,50\nПетрова;Казань;7,00\n"),
    ("cp866", "Встреча в четверг в 10 часов."),
    ("iso8859-5", "Встреча в четверг в 10 часов."),
    ("cp1251", "Зустріч відбудеться у четвер о десятій, ключ у пані Олени."),
    ("cp1253", "Η συνάντηση είναι την Πέμπτη στις δέκα το πρωί."),
    ("cp1253", "Άκυρες σημαίες"),
    ("iso8859-7", "Το κλειδί είναι στη Μαρία."),
    ("cp1255", "הפגישה ביום חמישי בשעה עשר בבוקר."),
    ("cp1256", "الاجتماع يوم الخميس في الساعة العاشرة صباحا."),
    ("cp874", "การประชุมจัดขึ้นในวันพฤหัสบดีเวลาสิบโมงเช้า"),
    ("shift_jis", "会議は木曜日の十時です。"),
    ("shift_jis", "README for the tool. 使い方は次の通りです。 Usage: tool -h\n"),
    ("euc_jp", "鍵は田中さんにあります。"),
    ("gbk", "会议定于星期四上午十点。"),
    ("gbk", "姓名,城市,金额\n王小明,北京,12.50\n李华,上海,7.00\n"),
    ("gbk", "Author: 张三\nThis file lists the opening hours of the museum and its branches in the city.\n"),
    ("big5", "會議定於星期四上午十點。"),
    ("big5", "鑰匙在王先生那裡。"),
    ("euc_kr", "회의는 목요일 오전 열 시에 있습니다."),
    ("euc_kr", "열쇠는 김 선생님에게 있습니다."),
]


@pytest.mark.parametrize("times", [1, 12])
@pytest.mark.parametrize(("encoding", "text"), [*(("cp1252", text) for text in WESTERN), *OTHERS])
def test_a_text_is_read_as_its_letters_say(encoding: str, text: str, times: int) -> None:
    whole = "\n".join([text] * times)
    assert decode(whole.encode(encoding), Path("a.txt")) == whole


def test_an_accent_far_from_the_top_is_read_as_well() -> None:
    text = "The ferry sails at noon. \n" * 20_000 + "Frau Müller wohnt in Köln.\n"
    assert decode(text.encode("cp1252"), Path("a.txt")) == text


def test_one_long_line_is_told_in_bounded_work() -> None:
    text = "word " * 400_000 + "Bürogebäude " * 400_000
    assert decode(text.encode("cp1252"), Path("a.txt")) == text
