from __future__ import annotations

import time

import pytest

from ragweave.minds.contracts import Said
from ragweave.minds.small.question.refer import follow

TEA = Said("灯塔茶室几点关门?", "茶室每天上午十点开门,下午六点关门。", "灯塔茶室 · 开放时间")
MUSEUM = Said("钟表博物馆的门票多少钱?", "成人票九欧元。", "钟表博物馆 · 票价")
NEWTON = Said("牛顿哪年出生?", "牛顿生于一六四三年。", "牛顿")
LAMP = Said("谁发明了电灯?", "爱迪生发明了电灯。", "电灯")
OLD = Said("燈塔茶室幾點關門?", "茶室下午六點關門。", "燈塔茶室 · 開放時間")
CAFE = Said("灯台カフェは何時に閉まりますか?", "毎日午後六時に閉まります。", "灯台カフェ · 営業時間")
HOUSE = Said("등대 찻집은 몇 시에 닫아요?", "매일 오후 여섯 시에 닫습니다.", "등대 찻집 · 영업 시간")


@pytest.mark.parametrize(
    ("before", "question"),
    [
        (TEA, "谁发明了电话?"),
        (TEA, "电话是谁发明的?"),
        (TEA, "火星有几个卫星?"),
        (TEA, "火星上有什么?"),
        (TEA, "法国的首都是哪里?"),
        (TEA, "土耳其的首都是哪里?"),
        (TEA, "谁发明了吉他?"),
        (TEA, "那火星有几个卫星?"),
        (TEA, "火星有几个卫星呢?"),
        (TEA, "为什么天空是蓝色的呢?"),
        (TEA, "介绍一下火星。"),
        (TEA, "什么是引力?"),
        (TEA, "有外星人吗?"),
        (TEA, "企鹅会飞吗?"),
        (MUSEUM, "中国有多少人?"),
        (MUSEUM, "怎么去机场?"),
        (MUSEUM, "太平洋有多深?"),
        (NEWTON, "爱因斯坦哪年出生?"),
        (LAMP, "谁发明了电话?"),
        (OLD, "誰發明了電話?"),
        (OLD, "火星有幾個衛星?"),
        (CAFE, "電話は誰が発明した?"),
        (CAFE, "火星に水はある?"),
        (CAFE, "フランスの首都は?"),
        (HOUSE, "화성은 얼마나 커?"),
        (HOUSE, "프랑스의 수도는?"),
    ],
)
def test_a_question_that_names_a_subject_of_its_own_is_taken_as_it_stands(before: Said, question: str) -> None:
    assert follow(question, before, False) == question


@pytest.mark.parametrize(
    ("before", "question", "made"),
    [
        (TEA, "那周末呢?", "周末 (灯塔茶室几点关门?)"),
        (TEA, "那茶呢?", "茶 (灯塔茶室几点关门?)"),
        (TEA, "晚上?", "晚上 (灯塔茶室几点关门?)"),
        (TEA, "那里呢?", "那里 (灯塔茶室几点关门?)"),
        (TEA, "它在哪里?", "灯塔茶室在哪里?"),
        (TEA, "几点关门?", "几点关门? (灯塔茶室)"),
        (TEA, "几点开始营业?", "几点开始营业? (灯塔茶室)"),
        (TEA, "那我们什么时候去比较好呢?", "那我们什么时候去比较好呢? (灯塔茶室)"),
        (TEA, "多少钱?", "多少钱? (灯塔茶室)"),
        (TEA, "国庆节开门吗?", "国庆节开门吗? (灯塔茶室)"),
        (TEA, "离港口多远?", "离港口多远? (灯塔茶室)"),
        (TEA, "可以带狗吗?", "可以带狗吗? (灯塔茶室)"),
        (TEA, "什么时候建的?", "什么时候建的? (灯塔茶室)"),
        (TEA, "地址是什么?", "地址是什么? (灯塔茶室)"),
        (MUSEUM, "那学生呢?", "学生 (钟表博物馆的门票多少钱?)"),
        (MUSEUM, "馆长叫什么?", "馆长叫什么? (钟表博物馆)"),
        (NEWTON, "在哪里出生?", "在哪里出生? (牛顿)"),
        (NEWTON, "他的妻子是谁?", "牛顿的妻子是谁?"),
        (OLD, "誰建的?", "誰建的? (燈塔茶室)"),
        (OLD, "幾點開門?", "幾點開門? (燈塔茶室)"),
        (CAFE, "週末は?", "週末は (灯台カフェは何時に閉まりますか?)"),
        (CAFE, "何時に開く?", "何時に開く? (灯台カフェ)"),
        (HOUSE, "주말에는?", "주말에는 (등대 찻집은 몇 시에 닫아요?)"),
        (HOUSE, "누가 지었어?", "누가 지었어 (등대 찻집은 몇 시에 닫아요?)"),
    ],
)
def test_what_leaves_its_subject_out_is_asked_of_what_was_spoken_of(before: Said, question: str, made: str) -> None:
    assert follow(question, before, False) == made


@pytest.mark.parametrize("question", ["火星" * 4_000, "那" + "火星" * 4_000 + "呢?", "的" * 8_000, "が" * 8_000])
def test_a_long_turn_costs_little(question: str) -> None:
    began = time.process_time()
    follow(question, TEA, False)
    assert time.process_time() - began < 1
